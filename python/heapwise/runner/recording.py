"""Runs a program under the recorder, which writes a trace of what it allocates and frees."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from heapwise import __version__
from heapwise.catalog import DRAIN, RECORDER, native_part
from heapwise.errors import Problem
from heapwise.machine import machine_fingerprint, read_machine
from heapwise.runner.preflight import preflight
from heapwise.trace import Summary

LEAST_BYTES = 4 << 20
"""Of a trace: below, no window has room for a useful number of events."""

STACK_EVERY = 256


@dataclass(frozen=True)
class Recording:
    """What to record. trace: the file to write. most_bytes: it never grows beyond.
    stack_every: of how many allocations of a thread one has its stack."""

    command: Sequence[str]
    trace: Path
    most_bytes: int = 256 << 20
    stack_every: int = STACK_EVERY
    force: bool = False


def record(wanted: Recording) -> Summary:
    """Runs the program to its end, with the terminal's streams.

    Problems: E010 if it cannot be started, E02x if the recorder cannot be loaded into it, E051 if
    the trace cannot be written, E003 for a size below LEAST_BYTES.
    """
    if wanted.most_bytes < LEAST_BYTES:
        raise Problem("E003", f"--max-size {wanted.most_bytes} is below 4M",
                      do="heapwise record --max-size 64M -- PROGRAM")
    found = preflight(wanted.command[0], force=wanted.force)
    about = msgspec.json.encode(_about(wanted, found.program)).decode()
    with tempfile.TemporaryDirectory(prefix="heapwise-record-") as folder:
        result = Path(folder, "result.json")
        with _without_interrupts():
            ended = subprocess.run([
                str(native_part(DRAIN)), "-o", str(wanted.trace), "--recorder",
                str(native_part(RECORDER)), "--max-bytes", str(wanted.most_bytes), "--stack-every",
                str(wanted.stack_every), "--about", about, "--result", str(result), "--",
                str(found.program), *wanted.command[1:]], check=False)
        if not result.exists():
            raise Problem("E056", f"no trace was written (exit {ended.returncode})")
        return msgspec.json.decode(result.read_bytes(), type=Summary)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C is for the program. The recorder then writes the rest of the trace."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _about(wanted: Recording, program: Path) -> dict[str, Any]:
    """What a reader of the trace wants to know. No environment: it may hold secrets."""
    return {
        "command": list(wanted.command), "program": str(program),
        "working_directory": str(Path.cwd()), "heapwise": __version__,
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine_fingerprint(read_machine()),
        "processors": len(os.sched_getaffinity(0)), "stack_every": wanted.stack_every,
    }
