"""Whether the peaks of processes are each of one process, or of all processes together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from heapwise.model.stored import Process

LARGEST, ALL = "the largest process", "all processes"
MIXED = f"{LARGEST} or {ALL}"
FEW = 0.1
"""The share of processes that does not move a median."""


def peak_reach(processes: Iterable[Process]) -> str:
    """``LARGEST``, ``ALL`` or ``MIXED``, of processes that ended well. "": the program is one
    process, as far as was seen.

    The launcher looks at the memory of all processes from 50 ms after the start on. A program with
    children that ends before has the kernel's mark of its largest process alone. So a peak may
    become that of all processes only because the program became slower.
    """
    counts = Counter(_reach(process) for process in processes if process.status == "ok")
    counts.pop("", None)
    if not counts:
        return ""
    (most, _), *others = counts.most_common()
    few = sum(number for _, number in others) <= FEW * counts.total()
    return most if few else MIXED


def _reach(process: Process) -> str:
    curve = process.facts.memory
    if curve is None or not curve.looks:
        return LARGEST if len(process.identity) > 1 else ""
    return ALL if max(curve.processes, default=0) > 1 or curve.most_unmapped_kib else ""


def unlike_peaks(one: str, other: str) -> bool:
    """Whether two peaks of these reaches may differ by the reach alone."""
    return MIXED in (one, other) or {one, other} == {LARGEST, ALL}
