"""Windows of one process: its warm-up is found, and the interval is honest about dependence."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.series.windows import end_of_warm_up, window_mean


def test_slow_windows_at_the_start_are_warm_up() -> None:
    chance = np.random.default_rng(1)
    cuts = [end_of_warm_up([40, 70, 90, *chance.normal(100, 1, 12)]) for _ in range(100)]
    assert min(cuts) == 3
    assert sum(cut == 3 for cut in cuts) >= 50


def test_windows_that_are_all_equal_have_no_warm_up() -> None:
    assert end_of_warm_up([5.0] * 8) == 0
    assert end_of_warm_up([]) == 0


def test_at_most_half_is_warm_up() -> None:
    assert end_of_warm_up([1, 2, 3, 4, 5, 6, 7, 8]) <= 4


def test_without_warm_up_the_cut_adds_no_bias() -> None:
    chance = np.random.default_rng(2)
    means = []
    for _ in range(400):
        values = chance.normal(100, 10, 12)
        means.append(values[end_of_warm_up(list(values)) :].mean())
    assert abs(np.mean(means) - 100) < 0.6


@pytest.mark.parametrize(("correlation", "least"), [(0.0, 0.94), (0.3, 0.90), (0.6, 0.83)])
def test_the_interval_covers_the_mean_of_dependent_windows(
    correlation: float, least: float
) -> None:
    chance = np.random.default_rng(3)
    covered = 0
    for _ in range(1000):
        values = [float(chance.normal(0, 1 / np.sqrt(1 - correlation**2)))]
        for _ in range(11):
            values.append(correlation * values[-1] + float(chance.normal()))
        found = window_mean(values)
        assert found is not None
        covered += found.low <= 0 <= found.high
    assert covered / 1000 >= least


def test_two_windows_have_no_interval() -> None:
    assert window_mean([1.0, 2.0]) is None
