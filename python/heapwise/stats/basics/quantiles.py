"""Quantiles, the median among them, with intervals that assume no distribution."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from heapwise.stats.basics.interval import Interval


def quantile(values: Sequence[float], q: float) -> float:
    """values: shape (n,), n >= 1; 0 <= q <= 1; the unit of the values.

    Linear between order statistics (definition 7 of R. J. Hyndman and Y. Fan, "Sample quantiles
    in statistical packages", The American Statistician 50 (1996) 361-365), so q = 0.5 is the
    median as everyone knows it.
    """
    _check(q)
    return float(np.quantile(np.asarray(values, dtype=np.float64), q))


@cache
def values_needed(q: float, confidence: float = 0.95) -> int:
    """How many values a two-sided interval of this quantile takes at least (6 for the median).

    The widest one, from the least to the greatest value, covers with 1 - q^n - (1-q)^n.
    """
    n = max(2, ceil(log(1 - confidence) / log(max(q, 1 - q))))
    while q**n + (1 - q) ** n > (1 - confidence) * (1 + 1e-12):
        n += 1
    return n


def quantile_interval(values: Sequence[float], q: float, confidence: float = 0.95) -> Interval:
    """The order statistics between which the true quantile lies with ``confidence``.

    values: shape (n,), independent of each other. The count of values below the quantile is
    binomial(n, q); the ends are the order statistics that leave at most half the error on each
    side, widened to one side when the extreme is reached. The coverage is exact for continuous
    values and at least that with ties. Too few values: ends None, and the note says how many.
    Source: H. A. David and H. N. Nagaraja, "Order Statistics", 3rd ed., section 7.1.
    """
    _check(q)
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    needed = values_needed(q, confidence) if 0 < q < 1 else n + 1
    if n < needed:
        note = f"{n} values: a {confidence:.0%} interval of this quantile needs {needed}"
        return Interval(None, None, confidence, None, note)
    low, high, coverage = _ranks(n, q, confidence)
    return Interval(float(ordered[low - 1]), float(ordered[high - 1]), confidence, coverage)


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """``quantile_interval`` at one half: from 6 values on."""
    return quantile_interval(values, 0.5, confidence)


@cache
def _ranks(n: int, q: float, confidence: float) -> tuple[int, int, float]:
    """1-based ranks (low, high) and their coverage; both tails equal where possible, else all error
    on one side. The same few numbers of values are asked for again and again."""
    from heapwise.stats.basics.special import bdtr

    below: NDArray[np.float64] = np.asarray(bdtr(np.arange(n + 1), n, q), dtype=np.float64)
    error = 1 - confidence
    low = _low_rank(below, error / 2)
    high = _high_rank(below, error / 2, n)
    if low is None:
        low, high = 1, _high_rank(below, error - below[0], n)
    elif high is None:
        low, high = _low_rank(below, error - (1 - below[n - 1])), n
    low, high = low or 1, high or n
    return low, high, float(bdtr(high - 1, n, q) - bdtr(low - 1, n, q))


def _low_rank(below: NDArray[np.float64], error: float) -> int | None:
    """The greatest r with P(count < r) <= error."""
    rank = int(np.searchsorted(below, error * (1 + 1e-12), side="right"))
    return rank or None


def _high_rank(below: NDArray[np.float64], error: float, n: int) -> int | None:
    """The smallest r with P(count >= r) <= error."""
    fitting = np.nonzero(1 - below[:n] <= error * (1 + 1e-12) + 1e-15)[0]
    return int(fitting[0]) + 1 if len(fitting) else None


def _check(q: float) -> None:
    if not 0 <= q <= 1:
        raise ValueError("a quantile lies between 0 and 1")
