"""The processors that this process may use."""

from __future__ import annotations

import os
from pathlib import Path

STATUS = Path("/proc/self/status")


def cpu_list(text: str) -> list[int]:
    """``0-2,5`` is [0, 1, 2, 5]. ValueError for anything else."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        numbers = range(int(first), int(last if dash else first) + 1)
        if not numbers:
            raise ValueError(f"the range {part} is empty")
        found += numbers
    return found


def usable_processors() -> list[int]:
    """In ascending order, and never empty. A filter of system calls may refuse to tell: then as
    /proc has them, else all of the machine."""
    try:
        return sorted(os.sched_getaffinity(0))
    except OSError:
        return _from_status() or list(range(os.cpu_count() or 1))


def _from_status() -> list[int]:
    try:
        lines = STATUS.read_text(errors="replace").splitlines()
        allowed = next(line for line in lines if line.startswith("Cpus_allowed_list:"))
        return cpu_list(allowed.partition(":")[2])
    except (OSError, StopIteration, ValueError):
        return []
