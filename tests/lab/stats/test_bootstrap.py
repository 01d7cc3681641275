from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.bootstrap import bootstrap_interval


def mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    return float(np.mean(values))


def test_close_to_the_known_interval_of_a_mean() -> None:
    values = list(np.random.default_rng(1).normal(10, 2, 200))
    found = bootstrap_interval(values, mean)
    assert found.low is not None
    assert found.high is not None
    expected = 1.96 * np.std(values, ddof=1) / np.sqrt(200)
    assert found.low == pytest.approx(np.mean(values) - expected, abs=0.05)
    assert found.high == pytest.approx(np.mean(values) + expected, abs=0.05)


def test_the_seed_decides() -> None:
    values = list(np.random.default_rng(2).lognormal(0, 1, 20))
    assert bootstrap_interval(values, mean, seed=1) == bootstrap_interval(values, mean, seed=1)
    assert bootstrap_interval(values, mean, seed=1) != bootstrap_interval(values, mean, seed=2)


def test_too_few_or_all_the_same() -> None:
    assert bootstrap_interval([1.0] * 7, mean).low is None
    assert bootstrap_interval([2.0] * 8, mean).low == 2.0
