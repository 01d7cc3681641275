"""The ratio of two things that were measured side by side, with an honest interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwise.stats.signed_rank import interval_rank, p_value, pairs_needed

CONFIDENCE = 0.95


@dataclass(frozen=True)
class PairedRatio:
    """subject / baseline. ``low`` and ``high`` are None when there are too few pairs (see note).

    ratio: Hodges-Lehmann estimate, no unit. n: pairs. p_value: two-sided, of "ratio is 1".
    needed: pairs that an interval of this confidence takes at least.
    """

    ratio: float
    low: float | None
    high: float | None
    n: int
    p_value: float
    confidence: float = CONFIDENCE
    needed: int = 6
    note: str = ""

    @property
    def half_width(self) -> float | None:
        """Half the interval's width relative to the ratio: 0.01 means +-1 %. None without one."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / (2 * self.ratio)


def walsh_averages(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sorted means of all pairs (i <= j); shape (n,) in, (n*(n+1)/2,) out, same unit."""
    first, second = np.triu_indices(len(differences))
    return np.sort((differences[first] + differences[second]) / 2)


def _log_ratios(subject: Sequence[float], baseline: Sequence[float]) -> NDArray[np.float64]:
    above = np.asarray(subject, dtype=np.float64)
    below = np.asarray(baseline, dtype=np.float64)
    if above.shape != below.shape or above.ndim != 1:
        raise ValueError("paired_ratio needs two lists of equal length, one number per pair")
    if len(above) == 0:
        raise ValueError("paired_ratio needs at least one pair")
    if not (np.all(np.isfinite(above) & (above > 0)) and np.all(np.isfinite(below) & (below > 0))):
        raise ValueError("a ratio needs finite numbers above zero")
    return np.log(above) - np.log(below)


def paired_ratio(
    subject: Sequence[float], baseline: Sequence[float], confidence: float = CONFIDENCE
) -> PairedRatio:
    """Hodges-Lehmann estimate of subject/baseline with the exact signed-rank interval.

    subject, baseline: shape (n,), the same positive unit; element i of both comes from round i.
    The estimate is exp of the median of the Walsh averages of the log ratios; the interval takes
    the Walsh averages whose ranks the signed-rank distribution gives, so it agrees with the test:
    1 is outside exactly when p < 1 - confidence (without ties).
    Assumes independent pairs whose log ratios lie symmetrically round their centre; nothing else.
    Raises ValueError for unequal lengths, no pair, or a number that is not finite and positive.
    Source: J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank tests",
    Ann. Math. Statist. 34 (1963) 598-611; Hollander and Wolfe, sections 3.2 and 3.3.
    """
    averages = walsh_averages(_log_ratios(subject, baseline))
    pairs = len(subject)
    statistic = float(np.sum(averages > 0) + np.sum(averages == 0) / 2)
    needed = pairs_needed(confidence)
    rank = interval_rank(pairs, confidence)
    low = high = None
    note = ""
    if rank is None:
        note = f"{pairs} pairs: a {confidence:.0%} interval needs at least {needed}"
    else:
        low, high = float(np.exp(averages[rank - 1])), float(np.exp(averages[-rank]))
    return PairedRatio(
        ratio=float(np.exp(np.median(averages))), low=low, high=high, n=pairs,
        p_value=p_value(statistic, pairs), confidence=confidence, needed=needed, note=note,
    )
