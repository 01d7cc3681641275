"""Whether the largest process of a program says how much memory the program needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from heapwise.model import Cell, Process
from heapwise.model.peak_reach import MIXED, peak_reach, unlike_peaks

if TYPE_CHECKING:
    from heapwise.evidence.evidence import Evidence

PEAK = "peak_memory"
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


def unlike_peak_words(evidence: Evidence, cell: Cell, subject: str, base: str) -> str:
    """``the peak is that of all processes, and of base that of the largest process: ...``; "" if a
    difference of the peaks is one of memory."""
    if cell.quantity != PEAK:
        return ""
    tried = evidence.tried.get(cell.setup, {})
    mine, known = (peak_reach(tried.get(name, ())) for name in (subject, base))
    if not unlike_peaks(mine, known):
        return ""
    why = "processes that end within 50 ms are not looked at together"
    if MIXED in (mine, known):
        return f"some of its peaks are of the largest process, others of all processes: {why}"
    return f"its peak is that of {mine}, and that of {base} of {known}: {why}"
