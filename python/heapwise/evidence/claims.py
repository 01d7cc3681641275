"""Every comparison that a run makes, and which of them survive being made together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heapwise.model import Cell
from heapwise.stats.claims.holm import holm
from heapwise.stats.ratios.paired import PairedRatio

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


def claims_of(
    cell: Cell, ratios: Mapping[str, PairedRatio], drifts: Mapping[str, float | None]
) -> list[Claim]:
    """Every subject of a cell against its baseline, adjusted for being made together.

    ratios: subject -> its ratio to the baseline. drifts: subject -> its ``Claim.drift``.
    """
    adjusted = holm([ratio.p_value for ratio in ratios.values()])
    return [
        Claim(
            cell,
            subject,
            ratio.p_value,
            p,
            ratio.n,
            ratio.strict is not None and not ratio.strict[0] <= 1 <= ratio.strict[1],
            len(ratios),
            drifts[subject],
        )
        for (subject, ratio), p in zip(ratios.items(), adjusted, strict=True)
    ]
