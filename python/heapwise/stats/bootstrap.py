"""Intervals for statistics that have no formula of their own: bias-corrected bootstrap."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from heapwise.stats.interval import Interval

Statistic = Callable[[NDArray[np.float64]], float]
RESAMPLES = 4999
AT_LEAST = 8
"""Below this the bootstrap's own error is larger than what it estimates."""


def bootstrap_interval(
    values: Sequence[float], statistic: Statistic, *, confidence: float = 0.95, seed: int = 0
) -> Interval:
    """BCa interval of ``statistic`` over independent values, shape (n,), in the statistic's unit.

    Deterministic for a seed. Values that are all the same give a point. Fewer than 8 values give
    no interval. The nominal coverage is approached for larger n, it is no guarantee.
    Source: B. Efron, "Better bootstrap confidence intervals", JASA 82 (1987) 171-185; computed by
    scipy.stats.bootstrap.
    """
    from scipy.stats import DegenerateDataWarning, bootstrap

    numbers = np.asarray(values, dtype=np.float64)
    if len(numbers) < AT_LEAST:
        note = f"{len(numbers)} values: a bootstrap interval needs at least {AT_LEAST}"
        return Interval(None, None, confidence, None, note)
    if np.all(numbers == numbers[0]):
        point = float(statistic(numbers))
        return Interval(point, point, confidence, None, "all values are the same")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DegenerateDataWarning)
        try:
            found = bootstrap((numbers,), statistic, n_resamples=RESAMPLES, vectorized=False,
                              confidence_level=confidence, method="BCa",
                              rng=np.random.default_rng(seed)).confidence_interval
        except DegenerateDataWarning:
            return Interval(None, None, confidence, None, "the statistic hardly varies")
    return Interval(float(found.low), float(found.high), confidence)
