"""Is one share more than a margin above another? A test that keeps its level exactly.

The statistic is the difference less the margin, over its deviation with the most likely shares of
that difference: C. P. Farrington and G. Manning, "Test statistics and sample size formulae for
comparative binomial trials with null hypothesis of non-zero risk difference or non-unity relative
risk", Statistics in Medicine 9 (1990) 1447-1454. As a normal score it is wrong at small levels, up
to nine times for 100 runs. So its p-value is exact: the chance of a statistic as large, at the
share of the base that makes it largest: I. S. F. Chan and Z. Zhang, "Test-based exact confidence
intervals for the difference of two binomial proportions", Biometrics 55 (1999) 1202-1209.
"""

from __future__ import annotations

import numpy as np

from heapwise.stats.basics.arrays import Floats

SHARES = 200
"""Shares of the base that are tried. They are closer where they are small, as rare runs are."""

HALVINGS = 40


def p_beyond_margin(new: tuple[int, int], base: tuple[int, int], margin: float) -> float:
    """One-sided, of "the share in ``new`` is at most ``margin`` above that in ``base``".

    new, base: a count and a number of runs. margin: above 0.
    """
    (count, runs), (base_count, base_runs) = new, base
    if margin >= 1 or count / runs - base_count / base_runs <= margin:
        return 1.0
    from heapwise.stats.basics.special import bdtr

    least = float(_score(np.array([count]), runs, np.array([base_count]), base_runs, margin)[0])
    counts = np.arange(runs + 1)
    highest = _highest(counts, runs, base_runs, margin, least - 1e-9)
    seen = highest >= 0
    shares = (1 - margin) * np.linspace(0, 1, SHARES)[:, np.newaxis] ** 2
    above = np.minimum(shares + margin, 1.0)
    upto = bdtr(counts, runs, above)
    chance = np.diff(upto, axis=1, prepend=0.0)
    within = bdtr(np.maximum(highest, 0), base_runs, shares)
    return float(np.max(np.sum(chance * within * seen, axis=1)))


def _highest(
    counts: np.ndarray[tuple[int], np.dtype[np.int64]],
    runs: int,
    base_runs: int,
    margin: float,
    least: float,
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each count the highest of the base with a statistic of at least ``least``, or -1: the
    statistic falls as the base has more."""
    low, high = np.full_like(counts, -1), np.full_like(counts, base_runs)
    while np.any(low < high):
        middle = (low + high + 1) // 2
        enough = _score(counts, runs, middle, base_runs, margin) >= least
        low, high = np.where(enough, middle, low), np.where(enough, high, middle - 1)
    return low


def _score(
    counts: np.ndarray[tuple[int], np.dtype[np.int64]],
    runs: int,
    base_counts: np.ndarray[tuple[int], np.dtype[np.int64]],
    base_runs: int,
    margin: float,
) -> Floats:
    """The statistic of Farrington and Manning. The likelihood of the base's share has its maximum
    where its derivative, which falls, is zero."""
    low, high = np.zeros(len(counts)), np.full(len(counts), 1 - margin)
    for _ in range(HALVINGS):
        share = (low + high) / 2
        above = share + margin
        rises = (
            counts / above
            - (runs - counts) / (1 - above)
            + base_counts / share
            - (base_runs - base_counts) / (1 - share)
        ) > 0
        low, high = np.where(rises, share, low), np.where(rises, high, share)
    share = (low + high) / 2
    above = share + margin
    variance = above * (1 - above) / runs + share * (1 - share) / base_runs
    gap = counts / runs - base_counts / base_runs - margin
    return np.asarray(gap / np.sqrt(variance), dtype=np.float64)
