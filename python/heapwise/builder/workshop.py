"""Where one peer is built: a folder, a log, a plain environment, commands that can be stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from heapwise.errors import Problem

TUNING = (
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "ASMFLAGS",
    "MAKEFLAGS",
    "LD_PRELOAD",
    "CMAKE_BUILD_TYPE",
    "EXTRA_CFLAGS",
    "EXTRA_CXXFLAGS",
)
"""What would make a build another than the plain one of its release."""

BUILD_ID = "-Wl,--build-id=sha1"
"""Some linkers write none unless told, and then nothing can prove which library was loaded."""

COUNTED = re.compile(r"^\[\s*(\d+%|\d+/\d+)\]")
"""How far ninja and CMake's make files say that they are."""


class BuildProgress(Protocol):
    """Is told what is being done now, and how far that is."""

    def step(self, text: str) -> None: ...

    def tick(self, text: str) -> None: ...


@dataclass(frozen=True)
class Workshop:
    """``folder`` is the build's own and is thrown away afterwards; ``log`` stays."""

    name: str
    folder: Path
    log: Path
    progress: BuildProgress
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, what: str, command: Sequence[str], folder: Path) -> None:
        """Problem E055, which names the log, when it fails. Its children end with it."""
        with self._started(what, command, folder, subprocess.STDOUT) as (process, log):
            for line in process.stdout or ():
                log.write(line)
                if counted := COUNTED.match(line.decode(errors="replace")):
                    self.progress.tick(counted.group(1))

    def output(self, what: str, command: Sequence[str], folder: Path) -> bytes:
        """What it prints on stdout, for commands whose answer is wanted. Problem E055."""
        with self._started(what, command, folder, None) as (process, _):
            return process.communicate()[0]

    def failed(self, what: str) -> Problem:
        return Problem("E055", f"{self.name}: {what}", do=f"read the end of {self.log}")

    @contextmanager
    def _started(
        self, what: str, command: Sequence[str], folder: Path, stderr: int | None
    ) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
        """``stderr`` None: into the log. The command is over, or ended, when this is left."""
        self.progress.step(what)
        with self.log.open("ab", buffering=0) as log:
            log.write(f"\n$ {' '.join(command)}\n".encode())
            try:
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log if stderr is None else stderr,
                    start_new_session=True,
                )
            except OSError as error:
                raise self.failed(f"{command[0]} cannot be started: {error}") from error
            try:
                yield process, log
                process.wait()
            finally:
                end(process)
        if process.returncode != 0:
            raise self.failed(f"{what} ended with {process.returncode}: {last_words(self.log)}")


def plain_environment(users: Mapping[str, str]) -> dict[str, str]:
    """The user's, without what would tune the build. Compilers stay theirs: CC and CXX."""
    left = {name: value for name, value in users.items() if name not in TUNING}
    return left | {"LDFLAGS": BUILD_ID, "LC_ALL": "C"}


def end(process: subprocess.Popen[bytes]) -> None:
    """Stops it and everything that it started, if any of them is still there."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout:
        process.stdout.close()


def last_words(log: Path) -> str:
    """The first line in which a tool names an error, else the last line of all."""
    command = log.read_text(errors="replace").rpartition("\n$ ")[2]
    lines = [line.strip() for line in command.splitlines()[1:] if line.strip()]
    wrong = [line for line in lines if re.search(r"\berror\b.*:", line, re.IGNORECASE)]
    return (wrong[:1] or lines[-1:] or ["it said nothing"])[0][:300]
