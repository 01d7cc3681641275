"""The memory of a process that somebody else started."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec

from heapwise.catalog import LAUNCHER, native_part
from heapwise.errors import Problem
from heapwise.model import LauncherFacts
from heapwise.runner.process.scratch import ScratchFolder
from heapwise.runner.process.stop_switch import StopSwitch

MOMENTS = 4096


def watch_memory(pid: int, seconds: float, stop: StopSwitch) -> LauncherFacts:
    """Its wall time and memory curve. Ends early with the process, or if the user stops it.

    Problems: E011 if there is no such process, if the kernel does not show its memory, if it has
    none or is a thread of another one; E052 if the launcher cannot do its work.
    """
    _demand_process(pid)
    with ScratchFolder() as folder:
        result = folder / "result"
        command = [
            str(native_part(LAUNCHER)),
            "--attach",
            str(pid),
            "--timeout",
            f"{seconds:g}",
            "--memory-moments",
            str(MOMENTS),
            "--result",
            str(result),
        ]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0) as launcher:
            stop.guard(launcher)
            launcher.wait()
            stop.guard()
        try:
            return msgspec.json.decode(result.read_bytes(), type=LauncherFacts)
        except (OSError, ValueError) as error:
            raise Problem("E052", f"the launcher left no result: {error}") from error


def _demand_process(pid: int) -> None:
    """Problem E011 if there is none of this number whose memory can be read."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        facts = dict(line.partition(":\t")[::2] for line in status.splitlines())
        if facts["Tgid"] != str(pid):
            raise Problem(
                "E011",
                f"process {pid}: it is a thread of process {facts['Tgid']}",
                do=f"heapwise watch {facts['Tgid']}",
            )
        if "VmRSS" not in facts:
            raise Problem(
                "E011",
                f"process {pid}: it has no memory of its own",
                why="It is a thread of the kernel, or it has ended.",
            )
        Path(f"/proc/{pid}/smaps_rollup").read_bytes()  # the kernel checks when it is read
    except PermissionError as error:
        raise Problem(
            "E011",
            f"process {pid}: its memory cannot be read",
            why="The kernel shows it only to those who may trace it (ptrace): its user, or root "
            "outside of a container.",
            do=f"run heapwise as the user of ps -o user= -p {pid}, or as root of the machine",
        ) from error
    except OSError as error:
        raise Problem(
            "E011", f"process {pid}: there is no such process, or it has ended"
        ) from error
