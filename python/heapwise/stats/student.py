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
    from heapwise.stats.special import stdtr, stdtrit

    numbers = np.asarray(values, dtype=np.float64)
    n = len(numbers)
    if n < LEAST:
        return None
    mean = float(numbers.mean())
    error = factor * float(numbers.std(ddof=1)) / float(np.sqrt(n))
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    if error == 0:
        return MeanInterval(mean, mean, mean, 1.0 if mean == 0 else 0.0)
    return MeanInterval(mean, mean - half, mean + half,
                        float(2 * stdtr(n - 1, -abs(mean) / error)))
