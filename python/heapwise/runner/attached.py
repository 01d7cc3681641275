"""The memory of a process that somebody else started."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec

from heapwise.catalog import LAUNCHER, native_part
from heapwise.errors import Problem
from heapwise.model import LauncherFacts
from heapwise.runner.scratch import ScratchFolder
from heapwise.runner.stop_switch import StopSwitch

MOMENTS = 4096


def watch_memory(pid: int, seconds: float, stop: StopSwitch) -> LauncherFacts:
    """Its wall time and memory curve. Ends early with the process, or if the user stops it.

    Problems: E003 if there is no such process or it belongs to another user, E052 if the launcher
    cannot do its work.
    """
    if not Path(f"/proc/{pid}").is_dir():
        raise Problem("E003", f"--attach {pid}: there is no such process")
    if not os.access(f"/proc/{pid}/smaps_rollup", os.R_OK) or not _can_read(pid):
        raise Problem("E003", f"--attach {pid}: its memory cannot be read",
                      why="It belongs to another user.", do="run heapwise as that user")
    with ScratchFolder() as folder:
        result = folder / "result"
        command = [str(native_part(LAUNCHER)), "--attach", str(pid), "--timeout", f"{seconds:g}",
                   "--memory-moments", str(MOMENTS), "--result", str(result)]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0) as launcher:
            stop.guard(launcher)
            launcher.wait()
            stop.guard(None)
        try:
            return msgspec.json.decode(result.read_bytes(), type=LauncherFacts)
        except (OSError, ValueError) as error:
            raise Problem("E052", f"the launcher left no result: {error}") from error


def _can_read(pid: int) -> bool:
    """The kernel checks once more when the file is read."""
    try:
        Path(f"/proc/{pid}/smaps_rollup").read_bytes()
    except OSError:
        return False
    return True
