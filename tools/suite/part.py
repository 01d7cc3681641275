"""One part of the suite: a command, its log, its results."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from suite.tally import Tally, read_junit

SIGN_OF_LIFE_S = 30
MOST_S = 1200
"""The limit of a part that hangs. A busy machine takes several times as long as an idle one; CI
stops all of the suite after 40 minutes, and would not say which part it was."""

LAST_WORDS_LINES = 60

RUNNING: set[subprocess.Popen[bytes]] = set()
"""The commands that have been started and not waited for."""
PRINTING = threading.Lock()


class Lane(Enum):
    """Beside what a part runs. The parts of one lane run one after the other."""

    USUAL = 1  # uses all processors
    BESIDE = 2  # needs nothing that a part of another lane makes
    ALONE = 3  # measures: nothing runs beside it


@dataclass(frozen=True)
class Part:
    """``junit``: the results that the command writes; None: the command itself is one test.

    prepares: it makes what later parts need, and so is run even if nothing has changed.
    unrelated: folders and files of the tree that cannot change its results.
    """

    name: str
    command: list[str]
    junit: Path | None = None
    timeout_s: float = MOST_S
    environment: dict[str, str] = field(default_factory=dict)
    prepares: bool = False
    unrelated: tuple[str, ...] = ()
    lane: Lane = Lane.USUAL

    @property
    def file_name(self) -> str:
        """The name, as a part of names of files."""
        return self.name.replace(" ", "-")


@dataclass(frozen=True)
class End:
    """``trouble``: what went wrong, or nothing.

    processor_s: time of all processors that the command and the commands that it waited for used.
    """

    trouble: str = ""
    processor_s: float = 0


def reap(process: subprocess.Popen[bytes]) -> End:
    """Waits for the command, which has ended or is about to."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    trouble = f"exit status {process.returncode}" if process.returncode else ""
    return End(trouble, usage.ru_utime + usage.ru_stime)


def end(process: subprocess.Popen[bytes]) -> End:
    """Ends the command and everything that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    return reap(process)


def end_all() -> None:
    """Ends every command that runs; the threads that started them wait for them."""
    for process in list(RUNNING):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def wait(process: subprocess.Popen[bytes], part: Part) -> End:
    """Waits with a sign of life."""
    started = time.monotonic()
    ended = select.poll()
    descriptor = os.pidfd_open(process.pid)
    try:
        ended.register(descriptor, select.POLLIN)
        while (elapsed_s := time.monotonic() - started) < part.timeout_s:
            if ended.poll(1000 * min(SIGN_OF_LIFE_S, part.timeout_s - elapsed_s)):
                return reap(process)
            show(f"    ... {part.name}: {time.monotonic() - started:.0f} s")
        return End(f"stopped after {part.timeout_s:.0f} s", end(process).processor_s)
    finally:
        os.close(descriptor)


def run_command(part: Part, log: Path) -> End:
    """Runs the command with its output in ``log``."""
    environment = os.environ | part.environment
    try:
        with log.open("wb") as stream:
            process = subprocess.Popen(
                part.command,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
            RUNNING.add(process)
            try:
                return wait(process, part)
            except BaseException:
                end(process)
                raise
            finally:
                RUNNING.discard(process)
    except OSError as error:
        return End(f"could not be started: {error}")


def run_part(part: Part, folder: Path) -> Tally:
    """Runs a part and counts it. A part that did not run, or ended badly, has a failure."""
    show(f"==> {part.name}")
    if part.junit:
        part.junit.unlink(missing_ok=True)
    log = folder / f"{part.file_name}.log"
    started = time.monotonic()
    ended = run_command(part, log)
    trouble = (f"{part.name}: {ended.trouble}",) if ended.trouble else ()
    if part.junit:
        tally = read_junit(part.junit, part.name)
        if not tally.failed:
            tally += Tally(failures=trouble)
    else:
        tally = Tally(failures=trouble) if trouble else Tally(passed=1)
    elapsed = f"{time.monotonic() - started:.0f} s, of processors {ended.processor_s:.0f} s"
    show(
        *(last_words(log) if tally.failed else []),
        f"    {part.name}: {tally.closing_line()}   ({elapsed})",
    )
    return tally


def show(*lines: str) -> None:
    """Prints the lines together, though another lane prints too."""
    with PRINTING:
        print(*lines, sep="\n", flush=True)


def last_words(log: Path) -> list[str]:
    """The end of a log, for a reader who cannot open it."""
    if not log.exists():
        return []
    with log.open(errors="replace") as stream:
        lines = [f"    | {line.rstrip()}" for line in deque(stream, LAST_WORDS_LINES)]
    return [*lines, f"    whole log: {log}"]
