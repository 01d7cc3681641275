"""How much memory the programs that we start can have."""

from __future__ import annotations

import os

from heapwise.machine.cgroups import memory_left
from heapwise.machine.kernel import memory_now


def available_bytes() -> int:
    """Memory that programs can have without swapping, by the kernel, and by the limits of our
    control groups. If /proc has processes alone (the option subset=pid), memory that is free."""
    available = memory_now()["memory_available_bytes"]
    if available is None:
        available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    left = memory_left()
    return available if left is None else min(available, left)
