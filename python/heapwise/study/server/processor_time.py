"""The processor time of a server that runs, and of all that it has started."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
CPUCLOCK_SCHED = 2
"""The kind of a processor-time clock in the number that clock_getcpuclockid(3) makes."""


@dataclass(frozen=True)
class Stat:
    """What /proc/PID/stat says: ticks of the process, and of children that it has waited for."""

    parent: int
    own: int
    waited_for: int


def processor_s(launcher: int, proc: Path = PROC) -> float | None:
    """What all processes have used that this one started, and those that these started; None if
    none is seen.

    Processes that have ended count if their parent has waited for them and still runs.
    """
    stats = _stats(proc)
    below = _below(launcher, stats)
    if not below:
        return None
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    running = sum(_own_s(pid, stats[pid].own * tick_s) for pid in below)
    return running + sum(stats[pid].waited_for for pid in (launcher, *below)) * tick_s


def _own_s(pid: int, by_ticks: float) -> float:
    """By the clock of the process, which has nanoseconds; a tick is 10 ms."""
    try:
        return time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)
    except OSError:
        return by_ticks


def _stats(proc: Path) -> dict[int, Stat]:
    found = {}
    for file in proc.glob("[0-9]*/stat"):
        try:
            fields = file.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        ticks = [int(field) for field in fields[11:15]]
        found[int(file.parent.name)] = Stat(int(fields[1]), sum(ticks[:2]), sum(ticks[2:]))
    return found


def _below(root: int, stats: Mapping[int, Stat]) -> list[int]:
    if root not in stats:
        return []
    found, open_ = [], [root]
    while open_:
        parent = open_.pop()
        children = [pid for pid, stat in stats.items() if stat.parent == parent]
        found += children
        open_ += children
    return found
