"""Whether the peaks of processes are each of one process, or of all processes together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from heapwise.model.cell import Setup
from heapwise.model.stored import Process, Sample

PEAK = "peak_memory"
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


def without_peaks_beside(samples: Iterable[Sample], processes: Iterable[Process]) -> list[Sample]:
    """The samples, without the peaks of programs of several processes that ran beside another one,
    where the program ran by itself, too.

    A peak of all processes is the sum of proportional sizes. Beside a process of the same program a
    library or a file counts half, and the looks are fewer: two kinds of peaks in one row.
    """
    whole: set[Setup] = set()
    beside: set[int] = set()
    for process in processes:
        if process.facts.beside is not None:
            beside.add(process.number)
        elif process.status == "ok" and _reach(process) == ALL:
            whole.add(process.setup)
    return [
        replace(each, values={name: v for name, v in each.values.items() if name != PEAK})
        if each.process in beside and each.setup in whole and PEAK in each.values
        else each
        for each in samples
    ]


def _reach(process: Process) -> str:
    curve = process.facts.memory
    if curve is None or not curve.looks:
        return LARGEST if len(process.identity) > 1 else ""
    return ALL if max(curve.processes, default=0) > 1 or curve.most_unmapped_kib else ""


def unlike_peaks(one: str, other: str) -> bool:
    """Whether two peaks of these reaches may differ by the reach alone."""
    return MIXED in (one, other) or {one, other} == {LARGEST, ALL}
