"""Runs one command and says what it cost."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType


@dataclass(frozen=True)
class Cost:
    """Seconds, in bytes what it printed."""

    wall: float
    processor: float
    output: bytes


def run(
    command: Sequence[str | Path],
    folder: Path,
    *,
    standard_input: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Cost:
    """Raises CalledProcessError with what the command said. processor: with all its children.

    What the command has started and left running is ended, also if it fails or this call is
    interrupted: a shell that is killed, or that aborts, does not stop its server.
    """
    with (
        (standard_input or Path(os.devnull)).open("rb") as source,
        (folder / "errors.txt").open("w+b") as errors,
        (folder / "out.txt").open("w+b") as output,
    ):
        began, before = time.monotonic(), _processor_of_children()
        process = None
        try:
            with _not_interrupted():
                process = subprocess.Popen(
                    list(map(str, command)),
                    cwd=folder,
                    stdin=source,
                    stdout=output,
                    stderr=errors,
                    env={**os.environ, **(environment or {})},
                    start_new_session=True,
                )
            # Not reaped yet, so that its number is that of its group and of no other one.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall = time.monotonic() - began
        finally:
            if process:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        processor = _processor_of_children() - before
        if process.returncode != 0:
            errors.seek(0)
            raise subprocess.CalledProcessError(
                process.returncode, process.args, stderr=errors.read()[-2000:]
            )
        output.seek(0)
        printed = output.read(1000)
    return Cost(wall, processor, printed)


@contextmanager
def _not_interrupted() -> Iterator[None]:
    """A signal waits until the block ends: only a process that is known can be ended, and the
    command may run long before Popen returns."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    # What is ignored stays so: the command inherits it.
    usual = {each: handler for each, handler in handlers.items() if callable(handler)}
    for each in usual:
        signal.signal(each, lambda *it: came.append(it))
    try:
        yield
    finally:
        for each, handler in usual.items():
            signal.signal(each, handler)
    for number, frame in came:
        usual[signal.Signals(number)](number, frame)


def _processor_of_children() -> float:
    """Of those that were waited for. Not os.times, whose clock ticks every 10 ms."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def be_interrupted_by_sigterm() -> None:
    """SIGTERM raises KeyboardInterrupt as Ctrl-C does, so that what runs is ended."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
