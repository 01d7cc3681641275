"""What a process of the user's program did besides printing: files that it wrote, and the user's
own check of them. Both are part of the same work (V8)."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.model import Status
from heapwise.runner.process.launch import Launch, Outcome, launch
from heapwise.runner.process.stop_switch import StopSwitch

Stamp = tuple[int, int, int, int]
"""Device, inode, size and time of the last change."""

TICK_NS = 20_000_000
"""Kernels before 6.13 take a file's times from a clock that moves in steps of up to 10 ms."""

WORDS = 200
"""Letters of a command's own words that a reason holds."""


@dataclass
class Work:
    """``files`` and ``check`` are of the user; ``expected``: file -> what the baseline wrote.

    A file is named as it is in ``files``, from the working directory on: a run that is resumed may
    have another one.

    A file is never removed: it may be one that the program changes in place. So a file that a
    process did not write is told from one that it wrote by the time of its last change.
    """

    files: Sequence[str]
    check: str
    environment: dict[str, str]
    working_directory: str
    folder: Path
    expected: dict[str, str] = field(default_factory=dict)
    is_fresh: bool = False
    """Whether the working directory is emptied before each process."""

    def begin(self) -> None:
        """Before each process. It waits until a file's next time of change will be another one."""
        if self.is_fresh:
            shutil.rmtree(self.working_directory, ignore_errors=True)
            Path(self.working_directory).mkdir()
        self._before = {name: _stamp(self._path(name)) for name in self.files}
        newest_ns = max((stamp[-1] for stamp in self._before.values() if stamp), default=0)
        wait_ns = newest_ns + TICK_NS - time.time_ns()
        if 0 < wait_ns <= TICK_NS:
            time.sleep(wait_ns * 1e-9)

    def judge(self, stop: StopSwitch, timeout_s: float) -> tuple[Status, str, dict[str, str]]:
        """After a process that ended well: status, reason, and what is in each file."""
        missing = [
            name
            for name in self.files
            if (stamp := _stamp(self._path(name))) is None or stamp == self._before[name]
        ]
        if missing:
            return "failed", f"it did not write {missing[0]}", {}
        try:
            found = {name: _digest(self._path(name)) for name in self.files}
        except OSError as error:
            return "failed", f"{error.filename} cannot be read: {error.strerror}", {}
        for name, digest in found.items():
            if self.expected.get(name, digest) != digest:
                return "output_differs", f"{name} is not the file that the baseline writes", found
        status, reason = self._checked(stop, timeout_s)
        return status, reason, found

    def _path(self, name: str) -> Path:
        return Path(self.working_directory, name)

    def _checked(self, stop: StopSwitch, timeout_s: float) -> tuple[Status, str]:
        """It runs in the user's environment, with nothing of ours preloaded, and is not timed."""
        if not self.check:
            return "ok", ""
        folder = self.folder / "check"
        folder.mkdir(exist_ok=True)
        outcome = launch(
            Launch(
                ["/bin/sh", "-c", self.check],
                self.environment,
                timeout_s,
                working_directory=self.working_directory,
                keeps_output=True,
            ),
            folder,
            stop,
        )
        if outcome.interrupted:
            return "interrupted", "stopped by you"
        if outcome.facts.exit_code == 0:
            return "ok", ""
        return "failed", f"--check {ending(outcome, timeout_s)}"


def ending(outcome: Outcome, timeout_s: float) -> str:
    """How a command ended that should end with 0, and the last of its own words."""
    facts = outcome.facts
    how = (
        f"had not ended after {timeout_s:.0f} s"
        if facts.timed_out
        else f"was ended by {facts.signal_name or facts.signal}"
        if facts.signal
        else f"ended with {facts.exit_code}"
    )
    words = (outcome.stderr.strip() or outcome.stdout.strip()).decode(errors="replace")
    return f"{how}: {words[-WORDS:]}" if words else how


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
