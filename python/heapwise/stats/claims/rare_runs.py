"""Does one of two programs have a rare, much larger run more often than the other?

A rank interval of the typical run does not see them: an estimator of Hodges and Lehmann stays where
it is until 29 % of the runs are elsewhere. So the runs beyond a fence are counted in each program,
and the two shares are compared by Fisher's exact test: R. A. Fisher, "On the interpretation of
chi-squared from contingency tables, and the calculation of P", Journal of the Royal Statistical
Society 85 (1922) 87-94. The fence comes from the runs of both programs together, so if their runs
have one distribution, each way to divide them is equally likely and the test is exact.

The fence stands ``SPREADS`` times the distance from the lower quartile to the median above the
median. For normal noise that is Tukey's fence for values that are "far out" (J. W. Tukey,
"Exploratory Data Analysis", 1977). Only the lower half of the runs decides where it stands, so rare
runs do not move it while they are fewer than half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from heapwise.stats.basics.arrays import Floats
from heapwise.stats.basics.student import LEAST
from heapwise.stats.claims.share_difference import p_beyond_margin

SPREADS = 7.0

CONFIDENCE = 0.95


@dataclass(frozen=True)
class RareRuns:
    """``new_count`` of ``new_runs`` runs of the new program lie beyond the fence, and
    ``base_count`` of ``base_runs`` of the base.

    size: their middle over the median of all other runs, 1.0 without one. low, high: 95 % interval
    of the share in the new program. p_more, p_less: of Fisher's test, one-sided, that the new
    program has them more, or less, often.
    """

    new_count: int
    new_runs: int
    base_count: int
    base_runs: int
    size: float
    low: float
    high: float
    p_more: float
    p_less: float

    @property
    def excess(self) -> float:
        """By how much they raise the mean of the new program over that of the base, about."""
        shares = self.new_count / self.new_runs - self.base_count / self.base_runs
        return shares * (self.size - 1)

    def p_beyond(self, limit: float) -> float:
        """One-sided, of "they raise that mean by the limit at most". limit: above 0."""
        if self.excess <= limit:
            return 1.0
        margin = limit / (self.size - 1)
        return p_beyond_margin(
            (self.new_count, self.new_runs), (self.base_count, self.base_runs), margin
        )


def rare_runs(new: Sequence[float], base: Sequence[float], least: float) -> RareRuns | None:
    """new, base: one positive number of each run. least: a run beyond the fence is larger than the
    typical one by more than this, 0.03 is 3 %. The typical runs of both are brought to one level
    first, since a shift of all runs is for other statistics.

    Returns None below 3 runs of one of them, and if a number is not positive.
    """
    if min(len(new), len(base)) < LEAST or min(*new, *base) <= 0:
        return None
    levels = [np.log(np.asarray(each, dtype=np.float64)) for each in (new, base)]
    logs, others = (each - _typical(each) for each in levels)
    together = np.concatenate([logs, others])
    fence = _fence(together, least)
    counts = [int(np.count_nonzero(each > fence)) for each in (logs, others)]
    beyond = together[together > fence]
    size = (
        float(np.exp(np.median(beyond) - np.median(together[together <= fence])))
        if len(beyond)
        else 1.0
    )
    sizes = len(logs), len(others)
    return RareRuns(
        counts[0],
        sizes[0],
        counts[1],
        sizes[1],
        size,
        *share_interval(counts[0], sizes[0]),
        _at_least(counts[0], sizes[0], sum(counts), sum(sizes)),
        _at_least(counts[1], sizes[1], sum(counts), sum(sizes)),
    )


def _typical(logs: Floats) -> float:
    """The median of what is not far above the median: rare runs do not move it much."""
    return float(np.median(logs[logs <= _fence(logs, 0.0)]))


def _fence(logs: Floats, least: float) -> float:
    quartile, middle = np.quantile(logs, (0.25, 0.5))
    return float(middle + max(SPREADS * (middle - quartile), np.log1p(least)) + 1e-12)


def _at_least(count: int, drawn: int, marked: int, runs: int) -> float:
    """The chance that ``count`` or more of ``marked`` runs are among ``drawn`` ones of ``runs``."""
    ways = sum(
        comb(marked, k) * comb(runs - marked, drawn - k)
        for k in range(count, min(marked, drawn) + 1)
    )
    return ways / comb(runs, drawn)


def share_interval(count: int, runs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of a share of which ``count`` of ``runs`` were seen. Source: C. J. Clopper and
    E. S. Pearson, "The use of confidence or fiducial limits", Biometrika 26 (1934) 404-413. Of none
    or all of the runs the whole error is on the side that can err."""
    from heapwise.stats.basics.special import bdtr, bdtrc

    error = (1 - confidence) / (1 if count in (0, runs) else 2)
    low = _root(lambda share: bdtrc(count - 1, runs, share) < error) if count else 0.0
    high = _root(lambda share: bdtr(count, runs, share) > error) if count < runs else 1.0
    return low, high


def _root(before: Callable[[float], bool]) -> float:
    """The share up to which ``before`` holds."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if before(middle) else (low, middle)
    return (low + high) / 2
