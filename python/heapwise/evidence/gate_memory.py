"""Whether the largest process of a program says how much memory the program needs."""

from __future__ import annotations

from collections.abc import Iterable

from heapwise.model import Process

ENOUGH = 5
"""Looks from which a process has a peak of the whole tree."""

UNMAPPED_SHARE = 0.01
"""The share of the peak. Less shared memory that is not mapped does not matter."""


def is_more_than_one_process(processes: Iterable[Process]) -> bool:
    """Whether a timed process had others beside it, or shared memory that belongs to none. Then the
    mark of the largest process is a part of what the program needs."""
    return any(
        _has_others(process)
        for process in processes
        if process.status == "ok" and not process.facts.counting
    )


def _has_others(process: Process) -> bool:
    curve = process.facts.memory
    if curve is None or curve.looks < ENOUGH:
        return len(process.identity) > 1 or max(curve.processes if curve else [], default=0) > 1
    return (
        max(curve.processes, default=0) > 1
        or curve.most_unmapped_kib > UNMAPPED_SHARE * curve.peak_kib
    )
