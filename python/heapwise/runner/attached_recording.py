"""Records a process for a while that was started with a recorder in a pause."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.runner.recording import pause, resume, trace_of

LOOK_S = 0.05
WRITTEN_S = 2.0
"""The recorder writes what it knows when it pauses, in far less time than this."""


class AttachedRecording(msgspec.Struct, frozen=True):
    """trace: the file, which the recorder goes on to write. bytes: its size now. has_ended: the
    process has ended meanwhile."""

    trace: str
    bytes: int
    seconds: float
    has_ended: bool


def attached(process: int, seconds: float | None, stop: StopSwitch) -> AttachedRecording:
    """Resumes the recording, waits, and pauses it. The trace then holds all that was recorded.

    seconds: how long, if the user does not stop it before; None: until then. Whatever ends the
    wait, the recording is paused. Problem E011 if the process is not recorded.
    """
    trace = trace_of(process)
    begun = time.monotonic()
    has_ended = False
    try:
        resume(process)
        while not stop.requested and (seconds is None or time.monotonic() - begun < seconds):
            time.sleep(LOOK_S if seconds is None else min(LOOK_S, seconds))
            if has_ended := not Path(f"/proc/{process}").exists():
                break
    finally:
        lasted = time.monotonic() - begun
        if not has_ended:
            before = _stamp(trace)
            pause(process)
    if not has_ended:
        _wait_until_written(trace, before)
    return AttachedRecording(str(trace), trace.stat().st_size, lasted, has_ended)


def _wait_until_written(trace: Path, before: tuple[int, int]) -> None:
    """If nothing was allocated, nothing is written."""
    deadline = time.monotonic() + WRITTEN_S
    last = before
    while time.monotonic() < deadline:
        time.sleep(2 * LOOK_S)
        now = _stamp(trace)
        if now == last != before:
            return
        last = now


def _stamp(trace: Path) -> tuple[int, int]:
    status = trace.stat()
    return status.st_size, status.st_mtime_ns
