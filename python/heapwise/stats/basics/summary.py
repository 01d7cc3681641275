"""The six figures that a row shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heapwise.stats.basics.arrays import median_of_sorted


@dataclass(frozen=True)
class SampleSummary:
    """All in the unit of the values, but n, which is a count."""

    n: int
    min: float
    median: float
    mean: float
    max: float
    stddev: float | None


def summarise(values: Sequence[float]) -> SampleSummary:
    """values: shape (n,), any unit. stddev divides by n - 1 and is None for a single value.

    Nothing is left out: outliers are part of what was measured.
    Raises ValueError for no value or one that is not finite.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if len(numbers) == 0:
        raise ValueError("a summary needs at least one value")
    if not np.all(np.isfinite(numbers)):
        raise ValueError("a summary needs finite values")
    return SampleSummary(
        n=len(numbers),
        min=float(numbers.min()),
        median=median_of_sorted(np.sort(numbers)),
        mean=float(numbers.mean()),
        max=float(numbers.max()),
        stddev=float(numbers.std(ddof=1)) if len(numbers) > 1 else None,
    )
