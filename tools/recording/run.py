"""Runs one command and says what it cost."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """Seconds, in bytes what it printed."""

    wall: float
    processor: float
    output: bytes


def run(command: Sequence[str | Path], folder: Path, *, standard_input: Path | None = None,
        environment: dict[str, str] | None = None) -> Cost:
    """Raises CalledProcessError with what the command said. processor: with all its children.

    What the command has started and left running is ended, also if it fails or this call is
    interrupted: a shell that is killed, or that aborts, does not stop its server.
    """
    with (standard_input or Path(os.devnull)).open("rb") as source, \
            (folder / "errors.txt").open("w+b") as errors, \
            (folder / "out.txt").open("w+b") as output:
        began, before = time.monotonic(), _processor_of_children()
        process = subprocess.Popen(list(map(str, command)), cwd=folder, stdin=source, stdout=output,
                                   stderr=errors, env={**os.environ, **(environment or {})},
                                   start_new_session=True)
        try:
            # Not reaped yet, so that its number is that of its group and of no other one.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall = time.monotonic() - began
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        processor = _processor_of_children() - before
        if process.returncode != 0:
            errors.seek(0)
            raise subprocess.CalledProcessError(process.returncode, process.args,
                                                stderr=errors.read()[-2000:])
        output.seek(0)
        printed = output.read(1000)
    return Cost(wall, processor, printed)


def _processor_of_children() -> float:
    """Of those that were waited for. Not os.times, whose clock ticks every 10 ms."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def be_interrupted_by_sigterm() -> None:
    """SIGTERM raises KeyboardInterrupt as Ctrl-C does, so that what runs is ended."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
