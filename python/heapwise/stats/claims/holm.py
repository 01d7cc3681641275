"""Many comparisons at once: the adjustment that keeps one false claim in twenty campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, shape (k,) in the order given; each at least its raw one, at most 1.

    Holds for any dependence between the comparisons, and here they share their baseline.
    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6 (1979) 65-70.
    """
    if any(not 0 <= p <= 1 for p in p_values):
        raise ValueError("a p-value lies between 0 and 1")
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    for place, i in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - place) * p_values[i]))
        adjusted[i] = worst
    return adjusted


def rounds_needed(comparisons: int, level: float = 0.05) -> int:
    """Rounds below which even a difference in every single round cannot survive ``holm``.

    The smallest p-value of n signed-rank pairs is 2^(1-n); it has to be below level/comparisons.
    """
    return max(6, ceil(1 + log2(max(1, comparisons) / level)))
