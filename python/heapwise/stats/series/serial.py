"""How much neighbouring values of a series are alike, apart from changes of its level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heapwise.stats.basics.arrays import Floats

LEAST = 20
"""Values below which no correlation is certain."""

CERTAIN = 2.5
"""Standard deviations that an estimate has to be above 0. One is 1 over the root of the
number of values."""

MOST = 0.95


def serial_correlation(values: Floats, changes: Sequence[int]) -> float:
    """The correlation of neighbouring values, from 0 to 0.95; 0 if it is not certain.

    values: shape (n,). changes: the first places of new levels. The result is one standard
    deviation below the estimate: all of the estimate would hide changes in series whose values are
    independent. The mean of a level makes its residuals less alike by (1 + 3 r) / n (M. G. Kendall,
    "Note on bias in the estimation of autocorrelation", Biometrika 41, 1954), which is put back.
    """
    count = len(values)
    if count < LEAST:
        return 0.0
    levels = np.searchsorted(np.asarray(changes), np.arange(count), side="right")
    sizes = np.bincount(levels)
    residuals = values - (np.bincount(levels, values) / np.maximum(sizes, 1))[levels]
    total = float((residuals**2).sum())
    if total <= 1e-20 * float((values**2).sum()):  # nothing but rounding
        return 0.0
    same = levels[1:] == levels[:-1]
    found = float((residuals[1:] * residuals[:-1])[same].sum()) / total
    found += len(sizes) * (1 + 3 * max(found, 0.0)) / count
    deviation = 1 / count**0.5
    return min(MOST, found - deviation) if found > CERTAIN * deviation else 0.0
