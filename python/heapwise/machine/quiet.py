"""Is anybody else using this machine right now (V13)."""

from __future__ import annotations

import os

from heapwise.machine.kernel_files import read_text
from heapwise.model import Quiet


def neighbours() -> Quiet:
    """Load, stolen ticks since boot (1/USER_HZ s), and pressure (µs stalled since boot)."""
    try:
        load: list[float] | None = [round(value, 2) for value in os.getloadavg()]
    except OSError:
        load = None
    return Quiet(
        load=load,
        steal_ticks=_steal(),
        ticks_per_s=os.sysconf("SC_CLK_TCK"),
        running=_running(),
        psi_cpu_us=_pressure("cpu"),
        psi_memory_us=_pressure("memory"),
        psi_io_us=_pressure("io"),
    )


def _steal() -> int | None:
    words = (read_text("/proc/stat") or "").partition("\n")[0].split()
    return int(words[8]) if len(words) > 8 else None


def _running() -> int | None:
    """Tasks that run or want to, ourselves not counted."""
    words = (read_text("/proc/loadavg") or "").split()
    return max(0, int(words[3].partition("/")[0]) - 1) if len(words) > 3 else None


def _pressure(kind: str) -> int | None:
    first = (read_text(f"/proc/pressure/{kind}") or "").partition("\n")[0]
    _, found, total = first.partition("total=")
    return int(total) if found else None
