"""Tests and estimates of ranks, from numpy and scipy.special alone.

Every judged run needs them, and loading scipy.stats takes longer than judging a small run. The
results are those of scipy.stats: tests/lab/stats/test_ranks.py compares them.
"""

from __future__ import annotations

import math
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

MOST_EXACT_ORDERS = 33
"""Up to this many values without ties, Kendall's p-value counts permutations."""
MOST_EXACT_SIDE = 8
"""Up to this many values on a side without ties, Mann and Whitney's counts choices."""


def kendall(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float]:
    """Kendall's tau-b of two shapes (n,), and its two-sided p-value.

    Requires: neither has one value only. Exact for few values without ties, else by the normal
    approximation with the variance that ties leave.
    Source: M. G. Kendall, "Rank Correlation Methods", 4th edition (1970), chapters 4 and 5.
    """
    above = np.triu_indices(len(first), 1)
    signs = [np.sign(np.subtract.outer(each, each)[above]) for each in (first, second)]
    score, pairs = int((signs[0] * signs[1]).sum()), len(above[0])
    untied = [int(np.count_nonzero(each)) for each in signs]
    tau = max(-1.0, min(1.0, score / math.sqrt(untied[0]) / math.sqrt(untied[1])))
    discordant = (pairs - abs(score)) // 2
    if untied == [pairs, pairs] and (len(first) <= MOST_EXACT_ORDERS or discordant <= 1):
        orders = _permutations(len(first), discordant)
        return tau, min(1.0, 2 * orders / math.factorial(len(first)))
    return tau, _two_sided(score / math.sqrt(_variance(first, second)))


def _permutations(count: int, inversions: int) -> int:
    """How many permutations of this count have at most this many inversions."""
    ways = [1] + [0] * inversions
    for each in range(2, count + 1):
        sums = list(accumulate(ways))
        ways = [total - (sums[at - each] if at >= each else 0) for at, total in enumerate(sums)]
    return sum(ways)


def _variance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The variance of Kendall's score if the order is chance and there are these ties."""
    count = len(first)
    ties = [np.unique(each, return_counts=True)[1].astype(np.float64) for each in (first, second)]
    pairs = [float((each * (each - 1)).sum()) for each in ties]
    triples = [float((each * (each - 1) * (each - 2)).sum()) for each in ties]
    widths = [float((each * (each - 1) * (2 * each + 5)).sum()) for each in ties]
    every = count * (count - 1)
    return (
        (every * (2 * count + 5) - sum(widths)) / 18
        + pairs[0] * pairs[1] / (2 * every)
        + triples[0] * triples[1] / (9 * every * (count - 2))
    )


def _two_sided(deviation: float) -> float:
    from heapwise.stats.basics.special import ndtr

    return float(2 * ndtr(-abs(deviation)))


def mann_whitney(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The two-sided p-value of the test of Mann and Whitney, for shapes (m,) and (n,).

    Exact for few values on a side without ties, else by the normal approximation with corrections
    for ties and continuity.
    Source: H. B. Mann and D. R. Whitney, Ann. Math. Statist. 18 (1947) 50-60.
    """
    m, n = len(first), len(second)
    below = np.sort(second)
    wins = (
        float(
            np.searchsorted(below, first, "left").sum()
            + np.searchsorted(below, first, "right").sum()
        )
        / 2
    )
    fewer = min(wins, m * n - wins)
    ties = np.unique(np.concatenate([first, second]), return_counts=True)[1].astype(np.float64)
    if min(m, n) <= MOST_EXACT_SIDE and len(ties) == m + n:
        return min(1.0, 2 * _choices(m, n, int(fewer)) / math.comb(m + n, m))
    spread = m + n + 1 - float((ties**3 - ties).sum()) / ((m + n) * (m + n - 1))
    if spread <= 0:
        return 1.0
    distance = m * n / 2 - fewer - 0.5
    return 1.0 if distance <= 0 else _two_sided(distance / math.sqrt(m * n / 12 * spread))


def _choices(m: int, n: int, wins: int) -> int:
    """In how many of the orders of m and n values without ties those of one side win against at
    most this many of the other: the first coefficients of the Gaussian binomial."""
    ways = [1] + [0] * wins
    for each in range(1, min(m, n) + 1):
        longest = max(m, n) + each
        ways = [
            count - (ways[at - longest] if at >= longest else 0) for at, count in enumerate(ways)
        ]
        for at in range(each, wins + 1):
            ways[at] += ways[at - each]
    return sum(ways)


def middle_slope(values: NDArray[np.float64], places: NDArray[np.float64]) -> float:
    """The median of the slopes between every two values at different places.

    Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63
    (1968).
    """
    above = np.triu_indices(len(values), 1)
    runs = np.subtract.outer(places, places)[above]
    rises = np.subtract.outer(values, values)[above]
    return float(np.median(rises[runs != 0] / runs[runs != 0]))
