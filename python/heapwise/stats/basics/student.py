"""Student's t interval for a mean: what three to five independent numbers can support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEAST = 3
"""Fewer numbers give intervals so wide, and so dependent on normality, that they say nothing."""


@dataclass(frozen=True)
class MeanInterval:
    """mean, low, high: in the unit of the values. p_value: two-sided, of "the mean is 0"."""

    mean: float
    low: float
    high: float
    p_value: float


def mean_interval(
    values: Sequence[float], confidence: float = 0.95, factor: float = 1.0
) -> MeanInterval | None:
    """values: shape (n,), independent; None below 3. Exact for normal values.

    factor: how much larger the standard error is than that of independent values.

    On the log scale of ratios of like things the values lie symmetrically. For symmetric heavy
    tails the interval is too wide, not too narrow.
    Source: Student, "The probable error of a mean", Biometrika 6 (1908) 1-25.
    """
    from heapwise.stats.basics.special import stdtr, stdtrit

    numbers = np.asarray(values, dtype=np.float64)
    n = len(numbers)
    if n < LEAST:
        return None
    mean = float(numbers.mean())
    error = factor * float(numbers.std(ddof=1)) / float(np.sqrt(n))
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    if error == 0:
        return MeanInterval(mean, mean, mean, 1.0 if mean == 0 else 0.0)
    return MeanInterval(mean, mean - half, mean + half, float(2 * stdtr(n - 1, -abs(mean) / error)))


def differ(first: Sequence[float], second: Sequence[float], level: float) -> bool:
    """Whether two means differ, by the two-sided test of unequal variances; at least 3 values each.

    Source: B. L. Welch, "The generalization of Student's problem when several different population
    variances are involved", Biometrika 34 (1947) 28-35.
    """
    from heapwise.stats.basics.special import stdtr

    groups = [np.asarray(values, dtype=np.float64) for values in (first, second)]
    parts = [float(values.var(ddof=1)) / len(values) for values in groups]
    distance = abs(float(groups[0].mean() - groups[1].mean()))
    error = float(np.sqrt(sum(parts)))
    if error == 0:
        return distance > 0
    degrees = error**4 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, groups, strict=True)
    )
    return float(2 * stdtr(degrees, -distance / error)) < level
