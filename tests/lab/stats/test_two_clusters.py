"""Two kinds of runs with nothing between, against runs of one kind."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.series.two_clusters import two_clusters


def test_two_kinds_are_counted() -> None:
    found = two_clusters([24.9, 25.0, 25.1] * 10 + [65.9, 66.1] * 16)
    assert found is not None
    assert (found.lower, found.lower_runs) == (25.0, 30)
    assert (found.upper, found.upper_runs) == (66.0, 32)


@pytest.mark.parametrize("runs", [14, 31, 60])
@pytest.mark.parametrize("kind", ["normal", "skewed", "heavy", "uniform", "wide"])
def test_one_kind_is_not_split(kind: str, runs: int) -> None:
    random = np.random.default_rng(runs)
    draws = {
        "normal": lambda n: 0.01 * random.normal(size=n),
        "skewed": lambda n: 0.02 * random.exponential(size=n),
        "heavy": lambda n: 0.01 * random.standard_t(2, n),
        "uniform": lambda n: 0.2 * random.random(n),
        "wide": lambda n: 0.3 * random.normal(size=n),
    }
    split = sum(two_clusters(np.exp(draws[kind](runs))) is not None for _ in range(1000))
    assert split <= 1


def test_a_few_large_runs_are_not_a_kind() -> None:
    assert two_clusters([20.0] * 28 + [200.0] * 3) is None


@pytest.mark.parametrize("runs", [[], [1.0] * 5, [0.0] * 20, [1.0, 2.0] * 5])
def test_too_little_is_known(runs: list[float]) -> None:
    assert two_clusters(runs) is None
