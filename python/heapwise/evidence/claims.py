"""Every comparison that a run makes, and which of them survive being made together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heapwise.model import Cell
from heapwise.stats.holm import holm

if TYPE_CHECKING:
    from heapwise.evidence.evidence import Evidence

LEVEL = 0.05


@dataclass(frozen=True)
class Claim:
    """One comparison with the baseline; p_adjusted is Holm's, within its cell and quantity.

    drift: the correlation of its own rounds, if they take its verdict away.
    """

    cell: Cell
    subject: str
    p_value: float
    p_adjusted: float
    n: int
    differs: bool
    comparisons: int
    drift: float | None = None

    @property
    def survives(self) -> bool:
        return self.p_adjusted < LEVEL


def claims(evidence: Evidence) -> list[Claim]:
    """Every subject against its baseline, controls aside, adjusted within each cell."""
    found: list[Claim] = []
    for cell, row in evidence.table.items():
        baseline = evidence.baselines.get(cell.experiment, "")
        aside = {baseline, evidence.controls.get(cell.experiment)}
        if baseline not in row:
            continue
        group = []
        for subject in row:
            if subject in aside:
                continue
            ratio, _ = evidence.ratio((cell, subject), (cell, baseline))
            if ratio is not None:
                group.append((subject, ratio))
        adjusted = holm([ratio.p_value for _, ratio in group])
        for (subject, ratio), p in zip(group, adjusted, strict=True):
            differs = ratio.strict is not None and not ratio.strict[0] <= 1 <= ratio.strict[1]
            drift = evidence.drifts((cell, subject), (cell, baseline))
            found.append(
                Claim(cell, subject, ratio.p_value, p, ratio.n, differs, len(group), drift)
            )
    return found
