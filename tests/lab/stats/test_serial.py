"""Neighbouring values that are alike, and changes of the level that are not that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from heapwise.stats.series.change_points import change_points
from heapwise.stats.series.serial import LEAST, serial_correlation

Series = np.ndarray[Any, Any]


def alike(chance: np.random.Generator, count: int, correlation: float) -> Series:
    """Around 100, with a standard deviation of 2."""
    steps = chance.normal(0, 2 * (1 - correlation**2) ** 0.5, count + 50)
    values = np.zeros(count + 50)
    for place in range(1, count + 50):
        values[place] = correlation * values[place - 1] + steps[place]
    return 100 + values[50:]


@pytest.mark.parametrize("correlation", [0.3, 0.5, 0.7])
def test_the_correlation_is_found_and_a_level_is_not_taken_for_it(correlation: float) -> None:
    chance = np.random.default_rng(3)
    values = alike(chance, 4000, correlation)
    assert serial_correlation(values, []) == pytest.approx(correlation, abs=0.05)
    values[1000:] += 50
    values[3000:] -= 20
    assert serial_correlation(values, [1000, 3000]) == pytest.approx(correlation, abs=0.05)


@pytest.mark.parametrize("count", [LEAST - 1, 30, 200])
def test_independent_values_seldom_have_one(count: int) -> None:
    chance = np.random.default_rng(4)
    found = sum(serial_correlation(chance.normal(100, 2, count), []) > 0 for _ in range(400))
    assert found / 400 <= (0.04 if count >= LEAST else 0)


@pytest.mark.parametrize("values", [[1.0] * 30, [1.0, 2.0] * 15, [1.0] * 15 + [2.0] * 15])
def test_values_without_noise_are_not_alike(values: list[float]) -> None:
    assert serial_correlation(np.asarray(values), [15]) == 0


@pytest.mark.parametrize(("correlation", "most"), [(0.3, 0.03), (0.5, 0.05), (0.7, 0.08)])
def test_long_series_of_values_that_are_alike_have_few_changes(
    correlation: float, most: float
) -> None:
    """Of 40 series, 1, 11 and 29 have a change if the correlation is not looked at."""
    chance = np.random.default_rng(6)
    series = [alike(chance, 150, correlation) for _ in range(40)]
    found = sum(bool(change_points(values, least_change=0.01)) for values in series)
    assert found / 40 <= most
