"""Do rounds depend on the rounds before them, and how much wider are intervals then?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapwise.stats.basics.arrays import Floats

LEAST_ROUNDS = 6
"""No order of fewer rounds is rare enough to say something."""

LEVEL, ALLOWANCE = 0.5, 0.7
"""Intervals are widened from this p-value on: a test of few rounds misses most dependence. The
allowance is added to the estimated correlation for its own error. It is in standard errors of a
correlation, 1 / sqrt(k n) for k series of n rounds. Simulated (tests/lab/stats/test_dependence.py):
intervals of 6 to 31 rounds cover 93 to 98 %, independent or correlated at 0.3 or 0.5. Of 8,000
campaigns correlated at 0.5, those of 8 rounds cover 93.5 % and those of 10 rounds 93.0 %. Student's
quantile by effective degrees of freedom has no better coverage at the same width."""

SHOWN_LEVEL, MANY_SERIES, LEAST_ALLOWANCE = 0.35, 4, 0.1
"""For the interval that is shown: the level from 4 series on, which the test can tell more about,
and the least allowance. A strict interval has margins of its own."""

UNTESTED = 0.3
"""The correlation that strict intervals allow for if there are too few rounds for a test."""

MOST_CORRELATED = 0.8
SHUFFLES = 400

OWN_LEVEL, OWN_MOST = 0.05, 0.95
"""The level and the most for one series alone. Pooled over all series, one that drifts is diluted
by the others. Simulated (tests/lab/stats/test_own_dependence.py): of a subject whose own rounds are
correlated at 0.8 two thirds as many campaigns of 14 rounds are called different, and a third of 31
rounds; a true difference of 2 % at 1 % noise is found in 3 % fewer campaigns of 14 rounds, and a
larger one in as many."""


@dataclass(frozen=True)
class Dependence:
    """lag_one: correlation of a round with the one before it. p_value: one-sided, of independence.

    factor, strict_factor: by how much the half width of an interval, and of a strict one, are
    larger than for independent rounds.
    """

    lag_one: float
    p_value: float
    factor: float
    strict_factor: float


def dependence(series: Sequence[Sequence[float]]) -> Dependence:
    """Pooled over all series of one experiment, since they were taken side by side.

    series: shape (k, n), k series of log ratios over the same n rounds, in the order of time; nan
    for a round that a series lost. The test shuffles the rounds of all series alike, so series may
    depend on each other. The estimate is corrected for its bias in short series. The variance of a
    mean of autoregressive values is (1 + r) / (1 - r) of that of independent ones. Fewer than 6
    rounds: no test; strict intervals allow for ``UNTESTED``.
    Source: F. H. C. Marriott and J. A. Pope, "Bias in the estimation of autocorrelations",
    Biometrika 41 (1954) 390-402; G. E. P. Box and G. M. Jenkins, "Time Series Analysis", 2.1.5.
    """
    values = np.asarray(series, dtype=np.float64)
    if values.ndim != 2:
        return untested()
    return Dependence(*(float(x[0]) for x in dependences(values[np.newaxis])))


def own_dependence(logs: Sequence[float]) -> Dependence | None:
    """The dependence of the log ratios of one series, shape (n,), in the order of time. None if
    there is no sign of it at ``OWN_LEVEL``, or if there are too few rounds to see one."""
    rounds = len(logs)
    if rounds < LEAST_ROUNDS or not _is_suspect(np.asarray(logs, dtype=np.float64)):
        return None
    values = np.asarray(logs, dtype=np.float64)[np.newaxis, np.newaxis]
    lag_one, p_value = (float(each[0]) for each in _tested(values, OWN_MOST))
    if p_value >= OWN_LEVEL:
        return None
    interval, strict = (
        float(_widening(min(max(lag_one + allowance, 0.0), OWN_MOST)))
        for allowance in (LEAST_ALLOWANCE, ALLOWANCE / rounds**0.5)
    )
    return Dependence(lag_one, p_value, interval, max(interval, strict))


def _is_suspect(logs: Floats) -> bool:
    """Whether a test by shuffling can come out at ``OWN_LEVEL``; most series need none."""
    centred = logs - logs.mean()
    power = float(centred @ centred)
    return power > 0 and float(centred[:-1] @ centred[1:]) / power * len(logs) ** 0.5 > 0.7


def untested() -> Dependence:
    """The dependence of rounds of which nothing is known."""
    return Dependence(0.0, 1.0, 1.0, float(_widening(np.asarray(UNTESTED))))


def dependences(series: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The fields of ``Dependence`` for many experiments, shape (m, k, n); each of shape (m,)."""
    rounds = series.shape[2]
    if rounds < LEAST_ROUNDS:
        one = np.ones(len(series))
        return 0 * one, one, one, _widening(np.asarray(UNTESTED)) * one
    lost = np.isnan(series)
    series = np.where(lost, np.nanmean(series, axis=2, keepdims=True), series)
    varying = np.maximum((series.std(axis=2) > 0).sum(axis=1), 1)
    corrected, p_value = _tested(series, MOST_CORRELATED, lost)
    rounds = (~lost).sum(axis=2).mean(axis=1)

    def factor(level: Any, allowance: Any) -> Floats:
        allowed = np.clip(corrected + allowance, 0.0, MOST_CORRELATED)
        return np.where((p_value > level) | (corrected <= 0), 1.0, _widening(allowed))

    allowance = ALLOWANCE / np.sqrt(varying * rounds)
    shown = np.where(varying < MANY_SERIES, LEVEL, SHOWN_LEVEL)
    return (
        corrected,
        p_value,
        factor(shown, np.maximum(allowance, LEAST_ALLOWANCE)),
        factor(LEVEL, allowance),
    )


def _tested(
    series: Floats, most: float, lost: NDArray[np.bool_] | None = None
) -> tuple[Floats, Floats]:
    """The corrected correlation, at most ``most``, and its p-value; of shape (m,).

    A lost round has the mean of its series: it adds nothing to any product. So the estimate is
    larger by the share of neighbours that were lost.
    """
    rounds = series.shape[2]
    centred = series - series.mean(axis=2, keepdims=True)
    spread = np.sqrt((centred**2).sum(axis=2, keepdims=True))
    scaled = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    varying = np.maximum((spread[:, :, 0] > 0).sum(axis=1), 1)
    products = np.einsum("mki,mkj->mij", scaled, scaled) / varying[:, None, None]
    orders = _orders(rounds)
    lags = products[:, orders[:, :-1], orders[:, 1:]].sum(axis=2)
    found = lags[:, 0]
    p_value = (lags >= found[:, None] - 1e-12).mean(axis=1)
    if lost is not None and lost.any():
        kept = ~lost
        neighbours = (kept[:, :, 1:] & kept[:, :, :-1]).sum(axis=(1, 2))
        found = found * (kept.sum(axis=(1, 2)) - kept.shape[1]) / np.maximum(neighbours, 1)
    return np.clip((found + 1 / rounds) / (1 - 3 / rounds), -1.0, most), p_value


def _widening(correlation: Any) -> Any:
    return np.sqrt((1 + correlation) / (1 - correlation))


@lru_cache(maxsize=16)
def _orders(rounds: int) -> NDArray[np.int64]:
    """The one that there was, and the same random ones each time."""
    random = np.random.default_rng(rounds)
    return np.array([np.arange(rounds), *(random.permutation(rounds) for _ in range(SHUFFLES))])
