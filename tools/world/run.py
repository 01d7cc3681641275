"""Runs a program in one way, and bounds its time."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from world.environments import MADE
from world.program import Program
from world.way import Start, Way, start_of

KEPT_VARIABLES = ("PATH", "PYTHONPATH")
TOOLCHAINS = {"RUSTUP_HOME": ".rustup"}
"""Variable -> the folder of the user's home in which a toolchain is, if the variable is not set."""
MOST_OUTPUT = 8 << 20
"""Bytes of output that are read. No declared program prints more."""


@dataclass(frozen=True)
class Done:
    """How a run ended. status: as in subprocess, negative for a signal; None if it had to be
    stopped. out: without what differs from run to run."""

    status: int | None
    out: str
    err: str


@dataclass(frozen=True)
class Place:
    """The folders of a program. files: what it declares. prepared: what its script made."""

    folder: Path

    @property
    def files(self) -> Path:
        return self.folder / "files"

    @property
    def prepared(self) -> Path:
        return self.folder / "prepared"


def prepare(program: Program, place: Place) -> Done:
    """Writes the files of the program, and runs its script, which may take ten minutes."""
    for folder in (place.files, place.prepared):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in program.files.items():
        (place.files / name).write_text(text)
    script = filled(program, place, program.prepare)
    words = ["bash", "-euo", "pipefail", "-c", script]
    return execute(Start(words, {}), program, place.prepared, 600)


def run(program: Program, way: Way, place: Place, native: Path) -> Done:
    """Runs the program in this way, in a new folder."""
    beside = place.folder / way.value
    work = beside / "work"
    work.mkdir(parents=True)
    command = [filled(program, place, word) for word in program.command]
    start = start_of(program, way, command, beside, native)
    done = execute(start, program, work, program.limit_s * start.patience)
    return Done(done.status, steady(program, done.out, str(work)), done.err)


def filled(program: Program, place: Place, text: str) -> str:
    """The text with the program's folders in place of their names."""
    needed = program.environment_needed
    folders = {
        "python": Path(sys.executable),
        "files": place.files,
        "prepared": place.prepared,
        "environment": MADE / needed.value if needed else place.folder,
    }
    for name, folder in folders.items():
        text = text.replace(f"{{{name}}}", str(folder))
    return text


def steady(program: Program, out: str, work: str) -> str:
    """The output without what may differ."""
    out = out.replace(work, "{work}")
    for varying in program.varies:
        out = re.sub(varying.pattern, varying.instead, out)
    return out


def execute(start: Start, program: Program, work: Path, limit_s: float) -> Done:
    """Runs the words to their end, or to the limit. What they leave running is ended."""
    plain = {name: str(Path.home() / folder) for name, folder in TOOLCHAINS.items()}
    plain |= {
        name: os.environ[name] for name in (*TOOLCHAINS, *KEPT_VARIABLES) if name in os.environ
    }
    plain |= {"HOME": str(work), "LC_ALL": "C.UTF-8", "TERM": "dumb", "TZ": "UTC"}
    # Files, not pipes: a process that is left over would keep a pipe open.
    with TemporaryFile() as out, TemporaryFile() as err, _inherited(start) as (files, handed):
        process = subprocess.Popen(
            start.words,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=work,
            env=plain | program.environment | start.variables | handed,
            pass_fds=files,
            start_new_session=True,
        )
        with _ended_with_its_group(process):
            try:
                status: int | None = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                status = None
        texts = [_text(stream.fileno()) for stream in (out, err)]
    return Done(status, *texts)


@contextlib.contextmanager
def _inherited(start: Start) -> Iterator[tuple[list[int], dict[str, str]]]:
    """The descriptors of the file for counts, and the variables that name it. A process that has
    changed its user or its root can write to it, too."""
    if start.counts is None:
        yield [], {}
        return
    with start.counts.open("ab") as file:
        about = os.fstat(file.fileno())
        yield (
            [file.fileno()],
            {
                "HEAPWISE_COUNT_OUT": str(start.counts),
                "HEAPWISE_COUNT_FILE": f"{file.fileno()}:{about.st_dev:016x}:{about.st_ino:016x}",
            },
        )


@contextlib.contextmanager
def _ended_with_its_group(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _text(file: int) -> str:
    return os.pread(file, MOST_OUTPUT, 0).decode(errors="replace")
