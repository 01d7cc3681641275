"""Did the figures drift while they were taken?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heapwise.stats.basics.ranks import kendall, mann_whitney, middle_slope


@dataclass(frozen=True)
class Trend:
    """tau: -1 ... 1. drift: change from first to last, in the unit of the values."""

    tau: float
    p_value: float
    drift: float
    n: int


@dataclass(frozen=True)
class Halves:
    """shift: median of the second half less the first's, in the unit of the values."""

    p_value: float
    shift: float
    n: int


def trend(values: Sequence[float], order: Sequence[float] | None = None) -> Trend | None:
    """Mann-Kendall test of values, shape (n,), against the order in which they were taken.

    Ties are allowed for (tau-b). The drift is the Theil-Sen slope times the range of the order.
    None for fewer than 6 values, where no order can be told from chance at 1 %.
    Source: H. B. Mann, "Nonparametric tests against trend", Econometrica 13 (1945) 245-259;
    P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968).
    """
    numbers = np.asarray(values, dtype=np.float64)
    places = np.asarray(range(len(values)) if order is None else order, dtype=np.float64)
    if len(numbers) < 6:
        return None
    if np.all(numbers == numbers[0]) or np.all(places == places[0]):
        return Trend(0.0, 1.0, 0.0, len(numbers))
    tau, p_value = kendall(places, numbers)
    drift = middle_slope(numbers, places) * float(np.ptp(places))
    return Trend(tau, p_value, drift, len(numbers))


def halves(values: Sequence[float]) -> Halves | None:
    """Mann-Whitney test of the first half against the second; values in the order of taking.

    The middle one of an odd count belongs to neither. None for fewer than 10 values.
    Source: H. B. Mann and D. R. Whitney, Ann. Math. Statist. 18 (1947) 50-60.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if len(numbers) < 10:
        return None
    half = len(numbers) // 2
    first, second = numbers[:half], numbers[-half:]
    shift = float(np.median(second) - np.median(first))
    return Halves(mann_whitney(first, second), shift, len(numbers))
