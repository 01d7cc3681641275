"""One process, started by the launcher and watched by the probes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, cast

import msgspec

from heapwise.catalog import LAUNCHER, native_part
from heapwise.errors import Problem
from heapwise.model import CountLine, Identity, ProcessFacts
from heapwise.runner.process.identity import read_lines
from heapwise.runner.process.stop_switch import StopSwitch

TAIL_BYTES = 2000
SHARED_MEMORY = Path("/dev/shm")
BACKSTOP_S = 60.0
"""The launcher keeps the time; this much later we no longer believe that it does."""


@dataclass(frozen=True)
class Launch:
    """What is started, and in what: everything but the user's command is chosen by the runner."""

    command: Sequence[str]
    environment: dict[str, str]
    timeout_s: float
    input_path: str | None = None
    working_directory: str = ""
    cpus: Sequence[int] = ()
    keeps_output: bool = False
    memory_moments: int = 0
    """How many moments of its memory are kept at most; 0: nobody looks."""

    watches_names: bool = False
    """Whether the kernel tells which names it changes. That costs time."""

    own_folder: str = ""
    """A folder in which no other process changes anything: the names in it are left out."""

    is_fresh: bool = False
    """Whether it runs in an empty folder that is made for it, and removed afterwards."""

    slice_s: float = 0.0
    """How long it has the processor before another process gets it; 0: as the kernel does."""


@dataclass(frozen=True)
class Outcome:
    """``facts`` are the launcher's result, ``identity`` and ``counts`` the probes' lines."""

    facts: ProcessFacts = field(default_factory=ProcessFacts)
    identity: list[Identity] = field(default_factory=list)
    counts: list[CountLine] = field(default_factory=list)
    stderr: bytes = b""
    interrupted: bool = False
    stdout: bytes = b""
    """Only of a launch that keeps it: the first and last 64 KiB."""


@dataclass
class Call:
    """One call of the launcher, and the files in ``folder`` in which it leaves what it saw."""

    what: Launch
    folder: Path

    def __post_init__(self) -> None:
        names = ("result", "stdout", "stderr", "probe", "count")
        self._files = {name: self.folder / name for name in names}
        for file in self._files.values():
            file.unlink(missing_ok=True)
        self._fresh = self.folder / "fresh" if self.what.is_fresh else None
        if self._fresh:
            shutil.rmtree(self._fresh, ignore_errors=True)
            self._fresh.mkdir()

    def start(
        self, *, pass_stdout: bool = False, starter: socket.socket | None = None
    ) -> subprocess.Popen[bytes]:
        """The launcher; with ``pass_stdout`` its stdout is a pipe that the program writes to.

        starter: it says when the program starts (bench/launcher/start/starter.hpp); None: at once.
        Programs that run at once are sessions of their own: where the kernel shares a processor
        between sessions (sched(7), autogroup), each then gets as much as any other session, and
        not a part of the share of one.
        """
        environment = self.what.environment | {
            "HEAPWISE_PROBE_OUT": str(self._files["probe"]),
            "HEAPWISE_COUNT_OUT": str(self._files["count"]),
        }
        flags = ["--pass-stdout"] if pass_stdout else []
        sockets = [] if starter is None else [starter.fileno()]
        for number in sockets:
            flags += ["--starter", str(number)]
        with in_memory(environment) as file:
            return subprocess.Popen(
                self._arguments([*flags, "--environment", str(file.fileno())]),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                stdout=subprocess.PIPE if pass_stdout else subprocess.DEVNULL,
                process_group=0 if starter is None else None,
                start_new_session=starter is not None,
                env={"PATH": "/usr/bin:/bin"},
                pass_fds=[file.fileno(), *sockets],
            )

    def outcome(self, code: int, complaint: bytes) -> Outcome:
        """After its end. Problem E052 when it left no result."""
        if self._fresh:
            shutil.rmtree(self._fresh, ignore_errors=True)
        return Outcome(
            _result(self._files["result"], code, complaint),
            read_lines(self._files["probe"], Identity),
            read_lines(self._files["count"], CountLine),
            _read(self._files["stderr"]),
            stdout=_read(self._files["stdout"]),
        )

    def _arguments(self, flags: list[str]) -> list[str]:
        what = self.what
        arguments = [
            str(native_part(LAUNCHER)),
            "--result",
            str(self._files["result"]),
            "--stderr",
            str(self._files["stderr"]),
            "--timeout",
            str(what.timeout_s),
            *flags,
        ]
        if what.keeps_output:
            arguments += ["--stdout", str(self._files["stdout"])]
        if what.input_path:
            arguments += ["--stdin", what.input_path]
        if directory := self._fresh or what.working_directory:
            arguments += ["--directory", str(directory)]
        if what.memory_moments:
            arguments += ["--memory-moments", str(what.memory_moments)]
        if what.watches_names:
            arguments.append("--watch-names")
        if what.own_folder:
            arguments += ["--own-folder", what.own_folder]
        if what.slice_s:
            arguments += ["--slice", f"{what.slice_s:.6f}"]
        if what.cpus:
            arguments += ["--cpus", ",".join(map(str, what.cpus))]
        # The launcher has no PATH of the user's: it would find another program, or none.
        name, *words = what.command
        found = shutil.which(name, path=what.environment.get("PATH", os.defpath))
        return [*arguments, "--", found or name, *words]


def in_memory(environment: Mapping[str, str]) -> BinaryIO:
    """A file for the launcher to read. Every user can read the command lines of all processes, but
    only the owner of a process can open its descriptors."""
    file = _nameless_file()
    for name, value in environment.items():
        file.write(os.fsencode(f"{name}={value}") + b"\0")
    file.seek(0)
    return file


def _nameless_file() -> BinaryIO:
    """In memory. If a filter of system calls refuses that, a file without a name, in memory, too,
    where there is a file system for it."""
    try:
        return os.fdopen(os.memfd_create("environment"), "w+b")
    except OSError:
        folder = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
        return cast(BinaryIO, TemporaryFile(dir=folder))


def launch(what: Launch, folder: Path, stop: StopSwitch) -> Outcome:
    """Runs it to its end. Problem E052 when the launcher itself cannot do its work."""
    call = Call(what, folder)
    with call.start() as launcher:
        stop.guard(launcher)
        try:
            _, complaint = launcher.communicate(timeout=what.timeout_s + BACKSTOP_S)
        except subprocess.TimeoutExpired:
            launcher.kill()
            _, complaint = launcher.communicate()
        finally:
            stop.guard()
    if stop.requested:
        return Outcome(interrupted=True)
    return call.outcome(launcher.returncode, complaint)


def _result(path: Path, code: int, complaint: bytes) -> ProcessFacts:
    try:
        return msgspec.json.decode(path.read_bytes(), type=ProcessFacts)
    except (OSError, ValueError) as error:
        reason = str(error)
    words = complaint.decode(errors="replace").strip()
    raise Problem(
        "E052",
        f"the launcher ended with {code} and no result: {words or reason}",
        why="Without it nothing can be measured.",
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def tail(stderr: bytes) -> str:
    """The program's last words."""
    return stderr[-TAIL_BYTES:].decode(errors="replace")
