"""How busy a machine is with other work, before a part of a page is measured on it."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

QUIET = 0.5  # tasks; below it the machine counts as idle


def other_work() -> float:
    """Tasks that run or want to, besides this one: the mean of a second. A load average would have
    the part before this one in it."""
    looks = []
    for _ in range(20):
        time.sleep(0.05)
        running, _, _ = Path("/proc/loadavg").read_text().split()[3].partition("/")
        looks.append(int(running) - 1)
    return round(statistics.mean(looks), 1)
