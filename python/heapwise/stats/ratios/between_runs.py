"""How much a figure differs from run to run, although nothing changed that is known.

The rounds of one run share its state of the machine, so their scatter does not hold what differs
between two runs. Only further runs tell it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from heapwise.stats.ratios.paired import PairedRatio

LEAST = 4
"""Runs that can tell how much runs differ."""


@dataclass(frozen=True)
class BetweenRuns:
    """deviation: of the logarithm of one run's figure. degrees: of freedom of its estimate."""

    deviation: float
    degrees: float

    def widened(self, ratio: PairedRatio) -> PairedRatio:
        """The ratio of two runs, with intervals that are at least as wide as runs differ."""
        return ratio.at_least(sqrt(2) * self.deviation, self.degrees)


def between_runs(levels: Sequence[float]) -> BetweenRuns | None:
    """levels: one positive figure of each run, in the order of time. None below 4 runs.

    By the differences of neighbouring runs, since a lasting change is in one of them only.
    Source: J. von Neumann et al., "The mean square successive difference", Ann. Math. Statist. 12
    (1941) 153-162; its variance is that of 2 (n - 1)^2 / (3 n - 4) degrees of freedom.
    """
    n = len(levels)
    if n < LEAST or min(levels) <= 0:
        return None
    steps = np.diff(np.log(np.asarray(levels, dtype=np.float64)))
    return BetweenRuns(float(np.sqrt(np.mean(steps**2) / 2)), 2 * (n - 1) ** 2 / (3 * n - 4))
