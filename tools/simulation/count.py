"""How often, with an interval that knows that the rows of one campaign depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv


@dataclass(frozen=True)
class Count:
    """hits, rows: over all campaigns. effective: as many independent rows would say as much."""

    hits: int
    rows: int
    effective: float

    @property
    def rate(self) -> float:
        return self.hits / self.rows

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The interval of Clopper and Pearson, exact for independent rows.

        Rows that depend on each other count as ``effective`` ones (E. L. Korn and B. I. Graubard,
        "Confidence intervals for proportions with small expected number of positive counts
        estimated from survey data", Survey Methodology 24 (1998) 193-201).
        """
        tail = (1 - confidence) / 2
        hits = self.rate * self.effective
        misses = self.effective - hits
        low = float(betaincinv(hits, misses + 1, tail)) if hits else 0.0
        high = float(betaincinv(hits + 1, misses, 1 - tail)) if misses else 1.0
        return low, high

    def contradicts(self, low: float, high: float, confidence: float = 0.95) -> bool:
        """Whether the whole interval lies outside ``low`` to ``high``."""
        found = self.interval(confidence)
        return found[1] < low or found[0] > high


def count(answers: Sequence[Sequence[bool]]) -> Count:
    """answers: of each campaign, one for each of its rows."""
    sizes = np.array([len(each) for each in answers], dtype=np.float64)
    hits = np.array([sum(each) for each in answers], dtype=np.float64)
    rows, campaigns = int(sizes.sum()), np.count_nonzero(sizes)
    rate = float(hits.sum()) / rows
    spread = float(((hits - rate * sizes) ** 2).sum()) / rows**2
    effective = rate * (1 - rate) / spread if spread else 0.0
    return Count(int(hits.sum()), rows, float(np.clip(effective, campaigns, rows)))
