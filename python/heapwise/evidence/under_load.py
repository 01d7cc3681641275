"""Ratios that differ under load: beside other processes, which take a part of the caches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from heapwise.evidence.comparisons import comparisons_of
from heapwise.model import SIDE_BY_SIDE, Cell

if TYPE_CHECKING:
    from heapwise.evidence.evidence import Evidence

Ends = tuple[float, float]


def ends_alone(evidence: Evidence, cell: Cell, subject: str, base: str) -> Ends | None:
    """The 95 % interval of the processor time of separate processes, if it has nothing in common
    with that of processes side by side. That happens to about 1 of 180 pairs of equal ratios.

    cell: of the processes side by side; None for any other. Source of the share: two normal
    estimates with equal errors have disjoint intervals if they differ by 2 x 1.96 errors, that is
    by 2.77 errors of their difference.
    """
    if cell.quantity != SIDE_BY_SIDE:
        return None
    alone = _ends(evidence, replace(cell, quantity="cpu_time"), subject, base)
    beside = _ends(evidence, cell, subject, base)
    if alone is None or beside is None or (alone[0] <= beside[1] and beside[0] <= alone[1]):
        return None
    return alone


def _ends(evidence: Evidence, cell: Cell, subject: str, base: str) -> Ends | None:
    if not {subject, base} <= evidence.table.get(cell, {}).keys():
        return None
    ratio, _ = comparisons_of(evidence).ratio((cell, subject), (cell, base))
    if ratio is None or ratio.low is None or ratio.high is None:
        return None
    return ratio.low, ratio.high
