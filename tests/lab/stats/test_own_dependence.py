"""One series whose rounds depend on each other, among others that do not."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.analysis.verdicts.verdict import judge
from heapwise.stats.ratios.paired import ratio_of_logs
from heapwise.stats.series.dependence import dependence, own_dependence

CAMPAIGNS, SUBJECTS = 150, 5


def correlated(random: np.random.Generator, rounds: int, lag_one: float) -> np.ndarray:
    values = random.normal(size=rounds)
    for number in range(1, rounds):
        values[number] = lag_one * values[number - 1] + values[number] * (1 - lag_one**2) ** 0.5
    return 0.01 * values


def claimed(rounds: int, lag_one: float, effect: float, *, own: bool) -> float:
    """The share of campaigns in which the first of five subjects is called different."""
    random = np.random.default_rng(rounds)
    found = 0
    for _ in range(CAMPAIGNS):
        first = correlated(random, rounds, lag_one) + effect
        logs = [first, *0.01 * random.normal(size=(SUBJECTS - 1, rounds))]
        tied = dependence([each.tolist() for each in logs])
        alone = own_dependence(first.tolist()) if own else None
        ratio = ratio_of_logs(first).widened(
            max(tied.factor, alone.factor if alone else 1),
            max(tied.strict_factor, alone.strict_factor if alone else 1),
        )
        found += judge(ratio, "lower", 0.0) in ("better", "worse")
    return found / CAMPAIGNS


@pytest.mark.parametrize(("rounds", "most"), [(14, 0.75), (31, 0.5)])
def test_a_series_that_drifts_alone_is_called_different_less_often(
    rounds: int, most: float
) -> None:
    before = claimed(rounds, 0.8, 0.0, own=False)
    assert claimed(rounds, 0.8, 0.0, own=True) <= most * before


@pytest.mark.parametrize(("rounds", "effect"), [(14, 0.02), (31, 0.01), (9, 0.05)])
def test_differences_of_independent_rounds_are_found_as_before(rounds: int, effect: float) -> None:
    before = claimed(rounds, 0.0, effect, own=False)
    assert claimed(rounds, 0.0, effect, own=True) >= before - 0.05


@pytest.mark.parametrize("rounds", [6, 9, 14, 31])
def test_independent_rounds_rarely_look_dependent(rounds: int) -> None:
    random = np.random.default_rng(rounds)
    found = sum(own_dependence(random.normal(size=rounds)) is not None for _ in range(400))
    assert found <= 0.08 * 400


def test_too_few_or_equal_rounds_show_nothing() -> None:
    assert own_dependence([0.1, 0.2, 0.3, 0.4, 0.5]) is None
    assert own_dependence([0.1] * 20) is None
