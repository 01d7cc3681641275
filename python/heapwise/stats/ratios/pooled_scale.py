"""How much the ratios of one cell scatter, estimated from all its subjects together.

Few rounds tell the scatter of one ratio badly, so its own interval has to be wide. The subjects of
a cell run the same work on the same machine, so their scatters are mostly alike. G. K. Smyth,
"Linear models and empirical Bayes methods for assessing differential expression in microarray
experiments", Statistical Applications in Genetics and Molecular Biology 3 (2004) article 3: each
variance is drawn to the mean of all, as strongly as they are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

UNTESTED_CONFIDENCE, FEW_CONFIDENCE, SOME_CONFIDENCE, USUAL_CONFIDENCE = 0.999, 0.998, 0.997, 0.995
"""The confidence of a verdict: fewer than 6 rounds, fewer than 9, fewer than 14 or few series, and
else. The fewer numbers there are, the less they show that rounds depend on each other. Simulated
(tests/lab/stats/test_pooled_scale.py): at most 1 % of identical subjects are called different,
also if rounds are correlated at 0.5."""

FEW_SERIES = 4
"""Series, the A/A pair among them, below which the dependence of rounds is known badly."""

MOST_PRIOR = 1e6


@dataclass(frozen=True)
class PooledScale:
    """error: standard error of the logarithm of a ratio. degrees: of freedom of it. confidence: of
    the interval that a verdict takes."""

    error: float
    degrees: float
    confidence: float

    @property
    def reach(self) -> float:
        """Half of the interval, on the log scale."""
        return self.reach_of(self.confidence)

    def reach_of(self, confidence: float) -> float:
        """Half of the interval of another confidence."""
        from heapwise.stats.basics.special import stdtrit

        return self.error * float(stdtrit(self.degrees, (1 + confidence) / 2))


def pooled_scales(errors: Sequence[float], rounds: Sequence[int]) -> list[PooledScale]:
    """errors: of each series of a cell, the standard error of its mean by its own rounds. The
    second label of the baseline is one of the series. rounds: of each, at least 2.

    A series whose rounds are all equal keeps its own scale, and tells nothing of the others.
    """
    known = [(error**2 * n, n - 1) for error, n in zip(errors, rounds, strict=True) if error > 0]
    confidence = [_confidence(n, len(errors)) for n in rounds]
    if len(known) < 2:
        alone = zip(errors, rounds, confidence, strict=True)
        return [PooledScale(error, n - 1.0, sure) for error, n, sure in alone]
    logs = np.array([log(variance) - _bias(degrees) for variance, degrees in known])
    chance = float(np.mean([_trigamma(degrees / 2) for _, degrees in known]))
    excess = float(logs.var(ddof=1)) - chance
    total = float(sum(degrees for _, degrees in known))
    prior, centre = _degrees_of(excess), exp(float(logs.mean()))
    found = []
    for error, n, sure in zip(errors, rounds, confidence, strict=True):
        if error == 0:
            found.append(PooledScale(0.0, n - 1.0, sure))
            continue
        own, others = n - 1.0, min(prior, total - (n - 1.0))
        variance = (own * error**2 * n + others * centre) / (own + others)
        found.append(PooledScale((variance / n) ** 0.5, own + others, sure))
    return found


def _confidence(rounds: int, series: int) -> float:
    if rounds < 6:
        return UNTESTED_CONFIDENCE
    if rounds < 9:
        return FEW_CONFIDENCE
    return SOME_CONFIDENCE if rounds < 14 or series < FEW_SERIES else USUAL_CONFIDENCE


def _bias(degrees: float) -> float:
    """How far the mean logarithm of an estimated variance is from that of the true one."""
    return _digamma(degrees / 2) - log(degrees / 2)


def _degrees_of(excess: float) -> float:
    """Degrees of freedom of a prior, from how much more the logarithms of the variances vary than
    chance explains: the solution of trigamma(d / 2) = excess."""
    if excess <= _trigamma(MOST_PRIOR / 2):
        return MOST_PRIOR
    low, high = 1e-3, MOST_PRIOR
    for _ in range(30):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if _trigamma(middle / 2) > excess else (low, middle)
    return high


def _digamma(x: float) -> float:
    """By its recurrence and its asymptotic series (Abramowitz and Stegun 6.3.5 and 6.3.18)."""
    below = 0.0
    while x < 6:
        below += 1 / x
        x += 1
    square = 1 / x**2
    return log(x) - 1 / (2 * x) - square * (1 / 12 - square * (1 / 120 - square / 252)) - below


def _trigamma(x: float) -> float:
    """As ``_digamma`` (6.4.6 and 6.4.12)."""
    above = 0.0
    while x < 6:
        above += 1 / x**2
        x += 1
    square = 1 / x**2
    return above + 1 / x + square / 2 + square / x * (1 / 6 - square * (1 / 30 - square / 42))
