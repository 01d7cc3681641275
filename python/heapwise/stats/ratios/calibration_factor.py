"""How much wider intervals have to be on one machine, by what its earlier runs found of themselves.

Each run compares its baseline with itself. If intervals are as wide as the noise of a machine, such
scores are standard normal. If the model of the noise lacks something, they scatter more, and the
same factor is missing in every interval: B. Devlin and K. Roeder, "Genomic control for association
studies", Biometrics 55 (1999) 997-1004.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, pi, sqrt

import numpy as np

LEAST, MOST = 14, 60
"""Runs from which there is a factor, and the newest that count."""

CLIP = 2.0
"""Scores beyond this many of their deviations count as if they were there: a few wild runs, of a
machine that did something else at that time, do not decide."""

MARGIN = 0.94
"""Over the root of the number of runs: the deviation of scores that are standard normal exceeds 1
by more than this in one of ten machines. A smaller one is not evidence."""

LARGEST = 8.0
"""The largest score that a p-value can tell."""


def score(p_value: float) -> float:
    """The size of a standard normal score that is two-sided as rare as this p-value."""
    from heapwise.stats.basics.special import ndtri

    return min(LARGEST, float(-ndtri(max(p_value, 1e-300) / 2)))


def deviation(scores: Sequence[float]) -> float:
    """Their deviation from 0, where the mean of equal things is, by Huber's M-estimate of scale
    (P. J. Huber, "Robust Statistics", 1981, chapter 5). 0 if most of them are 0."""
    sizes = np.abs(np.asarray(scores, dtype=np.float64))
    found = float(np.median(sizes)) / 0.6745
    if found <= 0:
        return 0.0
    for _ in range(100):
        clipped = np.minimum((sizes / found) ** 2, CLIP**2)
        step = sqrt(float(clipped.mean()) / _expected())
        found *= step
        if abs(step - 1) < 1e-9:
            break
    return found


def calibration_factor(scores: Sequence[float]) -> float:
    """By how much intervals are widened; 1 without evidence that they are too narrow. They are
    never made narrower.

    scores: of the A/A pair of each run, by intervals as wide as they are without any calibration.
    """
    if len(scores) < LEAST:
        return 1.0
    found = deviation(scores)
    return found if found > 1 + MARGIN / sqrt(len(scores)) else 1.0


def _expected() -> float:
    """The mean of a clipped square of a standard normal number."""
    from heapwise.stats.basics.special import ndtr

    outside = 2 * (1 - float(ndtr(CLIP)))
    density = exp(-(CLIP**2) / 2) / sqrt(2 * pi)
    return 1 - outside - 2 * CLIP * density + CLIP**2 * outside
