"""Peaks that may differ only because one program ended before its children were looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heapwise.model import Cell
from heapwise.model.peak_reach import MIXED, peak_reach, unlike_peaks

if TYPE_CHECKING:
    from heapwise.evidence.evidence import Evidence

PEAK = "peak_memory"


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
