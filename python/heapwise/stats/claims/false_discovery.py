"""Lists of many claims: the adjustment that keeps the share of false ones small."""

from __future__ import annotations

from collections.abc import Sequence


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, shape (k,) in the order given.

    Of the claims whose adjusted value is below 0.05, at most one in twenty is false on average. So
    it suits headlines that choose from all rows of a run; ``holm`` suits single claims.
    Source: Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the
    Royal Statistical Society B 57 (1995) 289-300.
    """
    if any(not 0 <= p <= 1 for p in p_values):
        raise ValueError("a p-value lies between 0 and 1")
    adjusted, least, number = [1.0] * len(p_values), 1.0, len(p_values)
    order = sorted(range(number), key=lambda i: p_values[i])
    for place in range(number, 0, -1):
        i = order[place - 1]
        least = min(least, number / place * p_values[i])
        adjusted[i] = least
    return adjusted
