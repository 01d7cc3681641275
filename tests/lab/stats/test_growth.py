"""Growth of a level: what is planted is found, and what does not grow is never called growing.

HEAPWISE_TIER=long simulates ten times as many servers.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from heapwise.stats.series.growth import growth, kendall_quantile

Numbers = NDArray[np.float64]
LEVEL = 200 * 1024.0
SECONDS: Numbers = np.arange(0, 300, 2.3)
LEAK: Numbers = LEVEL * 0.05 * SECONDS / 3600
Generator = np.random.Generator
COUNT = 1000 if os.environ.get("HEAPWISE_TIER") == "long" else 100


def noise(chance: Generator) -> Numbers:
    return chance.normal(0, 100, len(SECONDS))


def dependent(chance: Generator, correlation: float = 0.5) -> Numbers:
    found = np.zeros(len(SECONDS))
    for place in range(1, len(found)):
        found[place] = correlation * found[place - 1] + chance.normal(0, 100)
    return found


def slow(chance: Generator) -> Numbers:
    return dependent(chance, 0.9)


def drifting(chance: Generator) -> Numbers:
    """It forgets a change after 230 s, which is nearly all of the time."""
    return dependent(chance, 0.99)


def teeth(chance: Generator) -> Numbers:
    """A collector, or a cache that is emptied now and then."""
    period = chance.uniform(5, 100)
    return 3000 * (((SECONDS + chance.uniform(0, period)) % period) / period)


def step(chance: Generator) -> Numbers:
    return np.where(chance.uniform(0, 300) < SECONDS, chance.uniform(100, 4000), 0.0)


def two_steps(chance: Generator) -> Numbers:
    return step(chance) + step(chance)


@pytest.mark.parametrize("shape", [noise, dependent, teeth, step, two_steps])
def test_a_level_that_does_not_grow_is_never_called_growing(
    shape: Callable[[Generator], Numbers],
) -> None:
    chance = np.random.default_rng(7)
    found = [growth([(SECONDS, LEVEL + shape(chance))]) for _ in range(COUNT)]
    assert not [one for one in found if one is None or one.trend == "grows"]


@pytest.mark.parametrize(("shape", "share"), [(slow, 0.01), (drifting, 0.05)])
def test_a_level_that_changes_slowly_seldom_grows_or_falls(
    shape: Callable[[Generator], Numbers], share: float
) -> None:
    chance = np.random.default_rng(7)
    found = [growth([(SECONDS, LEVEL + shape(chance))]) for _ in range(COUNT)]
    assert sum(one is not None and one.trend in ("grows", "falls") for one in found) < share * COUNT


def test_a_constant_is_level() -> None:
    found = growth([(SECONDS, np.full(len(SECONDS), LEVEL))])
    assert found is not None
    assert (found.trend, found.per_hour, found.low, found.high) == ("level", 0, 0, 0)


@pytest.mark.parametrize("shape", [noise, dependent])
def test_five_percent_per_hour_are_seen_in_ten_minutes(
    shape: Callable[[Generator], Numbers],
) -> None:
    """Of which the second half counts."""
    chance = np.random.default_rng(8)
    found = [growth([(SECONDS, LEVEL + shape(chance) + LEAK)]) for _ in range(COUNT)]
    assert sum(one is not None and one.trend == "grows" for one in found) >= 0.9 * COUNT
    inside = [
        one
        for one in found
        if one is not None
        and one.low is not None
        and one.high is not None
        and one.low <= 0.05 * LEVEL <= one.high
    ]
    assert len(inside) >= 0.9 * COUNT


def test_less_memory_with_time_falls() -> None:
    found = growth([(SECONDS, LEVEL - LEAK)])
    assert found is not None
    assert found.trend == "falls"


def test_six_series_have_the_interval_of_their_slopes() -> None:
    chance = np.random.default_rng(9)
    series = [(SECONDS, LEVEL + noise(chance) + factor * LEAK) for factor in range(1, 8)]
    found = growth(series)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < 2.5 * 0.05 * LEVEL < 5.5 * 0.05 * LEVEL < found.high


def test_few_values_say_nothing() -> None:
    assert growth([(SECONDS[:10], LEAK[:10])]) is None


def test_quantile_of_kendall_is_that_of_scipy() -> None:
    from scipy.stats import kendalltau

    for n in (6, 8, 12):
        score = kendall_quantile(n, 0.95)
        order = _order_with(n, score)
        assert kendalltau(range(n), order, method="exact").pvalue > 0.05 - 1e-9
        beyond = _order_with(n, score + 2)
        assert kendalltau(range(n), beyond, method="exact").pvalue <= 0.05


def _order_with(n: int, score: int) -> list[int]:
    """An order of 0 ... n - 1 with this score: the greatest one less two for each exchange."""
    order, exchanges = list(range(n)), (n * (n - 1) // 2 - score) // 2
    for last in range(n - 1, 0, -1):
        for place in range(last):
            if exchanges == 0:
                return order
            if order[place] < order[place + 1]:
                order[place], order[place + 1] = order[place + 1], order[place]
                exchanges -= 1
    return order
