"""Do rounds depend on the rounds before them, and how much wider are intervals then?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

LEAST_ROUNDS = 5
"""Fewer say nothing of their order."""

LEVEL = 0.2
"""Intervals are widened from this p-value on. Chosen by simulation: with a correlation of 0.5 about
1 % of identical subjects are called different, instead of 2 to 6 %. Independent rounds pay 6 to
19 % of width on average (tests/lab/stats/test_dependence.py)."""

ALLOWANCE = 0.1
"""Added to the estimate, for its own error: without it 1.5 % would be called different."""

MOST_CORRELATED = 0.8
SHUFFLES = 400


@dataclass(frozen=True)
class Dependence:
    """lag_one: correlation of a round with the one before it. p_value: one-sided, of independence.

    factor: by how much the half width of an interval for independent rounds is multiplied.
    """

    lag_one: float
    p_value: float
    factor: float


INDEPENDENT = Dependence(0.0, 1.0, 1.0)


def dependence(series: Sequence[Sequence[float]]) -> Dependence:
    """Pooled over all series of one experiment, since they were taken side by side.

    series: shape (k, n), k series of log ratios over the same n rounds, in the order of time. The
    test shuffles the rounds of all series alike, so series may depend on each other. The estimate
    is corrected for its bias in short series. The variance of a mean of autoregressive values is
    (1 + r) / (1 - r) of that of independent ones. Fewer than 5 rounds: independent.
    Source: F. H. C. Marriott and J. A. Pope, "Bias in the estimation of autocorrelations",
    Biometrika 41 (1954) 390-402; G. E. P. Box and G. M. Jenkins, "Time Series Analysis", 2.1.5.
    """
    values = np.asarray(series, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < LEAST_ROUNDS:
        return INDEPENDENT
    centred = values - values.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    scaled = centred[spread[:, 0] > 0] / spread[spread[:, 0] > 0]
    if len(scaled) == 0:
        return INDEPENDENT
    rounds = scaled.shape[1]
    found = _lag_one(scaled)
    shuffled = [_lag_one(scaled[:, order]) for order in _orders(rounds)]
    p_value = float(np.mean(np.asarray(shuffled) >= found - 1e-12))
    corrected = (found + 1 / rounds) / (1 - 3 / rounds)
    if p_value > LEVEL or corrected <= 0:
        return Dependence(found, p_value, 1.0)
    allowed = min(corrected + ALLOWANCE, MOST_CORRELATED)
    factor = float(np.sqrt((1 + allowed) / (1 - allowed)))
    return Dependence(min(corrected, MOST_CORRELATED), p_value, factor)


def _lag_one(scaled: NDArray[np.float64]) -> float:
    """Mean over the series, each of unit length."""
    return float((scaled[:, 1:] * scaled[:, :-1]).sum() / len(scaled))


def _orders(rounds: int) -> NDArray[np.int64]:
    """All orders of few rounds, else the same random ones each time."""
    if rounds == LEAST_ROUNDS:
        return np.array(list(permutations(range(rounds))))
    random = np.random.default_rng(rounds)
    return np.array([np.arange(rounds), *(random.permutation(rounds) for _ in range(SHUFFLES))])
