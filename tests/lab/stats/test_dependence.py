"""Rounds that depend on each other are noticed, and intervals widened; others hardly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from heapwise.analysis.verdicts.verdict import judge
from heapwise.stats.ratios.noise import noise_floor
from heapwise.stats.ratios.paired import PairedRatio, ratio_of_logs
from heapwise.stats.series.dependence import Dependence, dependence, untested

CAMPAIGNS = 800

MANY = 3200
"""The coverage of 800 campaigns has a standard deviation of 0.6 points: too much for a bound."""


def some(*rounds: int) -> list[Any]:
    """Every second one is for `make test-long`."""
    return [
        pytest.param(each, marks=pytest.mark.long) if number % 2 else each
        for number, each in enumerate(rounds)
    ]


SUBJECTS = 3


def noise(
    random: np.random.Generator, subjects: int, rounds: int, correlation: float
) -> NDArray[np.float64]:
    """Autoregressive, of standard deviation 1; shape (subjects, rounds)."""
    values = random.normal(size=(subjects, rounds))
    for number in range(1, rounds):
        values[:, number] = (
            correlation * values[:, number - 1] + np.sqrt(1 - correlation**2) * values[:, number]
        )
    return values


@dataclass
class Campaigns:
    """What was found of subjects whose true log ratio to the baseline is ``effect``."""

    effect: float
    words: list[str] = field(default_factory=list)
    ratios: list[PairedRatio] = field(default_factory=list)
    found: list[Dependence] = field(default_factory=list)

    def false_claims(self) -> int:
        return sum(word in ("better", "worse") for word in self.words)

    def coverage(self) -> float:
        truth = np.exp(self.effect)
        return float(np.mean([(r.low or 9) <= truth <= (r.high or 0) for r in self.ratios]))


def campaigns(
    rounds: int, correlation: float, effect: float = 0.0, number: int = CAMPAIGNS
) -> Campaigns:
    """Subjects beside a baseline and its control, each with a deviation of 0.5 % a round."""
    random = np.random.default_rng(rounds)
    found = Campaigns(effect)
    for _ in range(number):
        base, control, *subjects = 0.005 * noise(random, 2 + SUBJECTS, rounds, correlation)
        series = [control - base, *(each + effect - (base + control) / 2 for each in subjects)]
        tied = dependence(series)
        floor = noise_floor(np.exp(base).tolist(), np.exp(control).tolist(), tied.factor)
        assert floor is not None
        ratios = [
            ratio_of_logs(logs).widened(tied.factor, tied.strict_factor) for logs in series[1:]
        ]
        found.ratios += ratios
        found.words += [judge(ratio, "lower", floor.floor) for ratio in ratios]
        found.found.append(tied)
    return found


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("rounds", some(3, 4, 5, 6, 8, 10, 14, 31))
def test_identical_subjects_are_hardly_ever_called_different(
    rounds: int, correlation: float
) -> None:
    found = campaigns(rounds, correlation)
    expected = 0.01 * len(found.words)
    assert found.false_claims() <= expected + 2 * np.sqrt(expected)


@pytest.mark.parametrize("rounds", some(3, 5, 6, 8, 10, 12, 14, 31))
def test_intervals_of_independent_rounds_are_neither_too_wide_nor_too_narrow(rounds: int) -> None:
    found = campaigns(rounds, 0.0)
    error = np.sqrt(0.95 * 0.05 / len(found.ratios))
    assert 0.95 - 3 * error <= found.coverage() <= 0.98 + error
    assert np.mean([tied.factor for tied in found.found]) < (1.2 if rounds > 6 else 1.3)


@pytest.mark.parametrize("correlation", [0.3, 0.5])
@pytest.mark.parametrize("rounds", some(6, 8, 9, 10, 14, 20, 31))
def test_intervals_of_dependent_rounds_hold_the_truth(rounds: int, correlation: float) -> None:
    coverage = campaigns(rounds, correlation, number=MANY).coverage()
    error = np.sqrt(0.95 * 0.05 / MANY)
    assert 0.93 - error <= coverage <= 0.98 + error


def test_a_true_difference_of_one_percent_is_found_in_14_rounds() -> None:
    words = campaigns(14, 0.0, 0.01).words
    assert np.mean([word == "worse" for word in words]) >= 0.9


def test_a_long_series_is_estimated_well() -> None:
    found = dependence(noise(np.random.default_rng(2), 4, 500, 0.5).tolist())
    assert found.lag_one == pytest.approx(0.5, abs=0.06)
    assert found.factor == pytest.approx(2, rel=0.1)
    assert found.p_value < 0.01


@pytest.mark.parametrize("series", [[], [[1.0, 2.0, 3.0, 4.0]]])
def test_of_few_rounds_nothing_is_known_and_only_the_strict_interval_allows_for_it(
    series: list[list[float]],
) -> None:
    assert dependence(series) == untested()
    assert untested().factor == 1.0
    assert untested().strict_factor == pytest.approx(np.sqrt(1.3 / 0.7))


def test_series_that_do_not_vary_are_independent() -> None:
    found = dependence([[1.0] * 9])
    assert (found.p_value, found.factor, found.strict_factor) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_series_that_lost_different_rounds_are_still_tested(correlation: float) -> None:
    """A sixth of the rounds of each series is lost; the estimate is that of whole series."""
    random = np.random.default_rng(5)
    whole, gaps = [], []
    for _ in range(200):
        series = noise(random, 4, 30, correlation)
        whole.append(dependence(series.tolist()))
        series[random.random(series.shape) < 1 / 6] = np.nan
        gaps.append(dependence(series.tolist()))
    means = [np.mean([each.lag_one for each in found]) for found in (whole, gaps)]
    assert means[1] == pytest.approx(means[0], abs=0.04)
    shares = [np.mean([each.p_value < 0.05 for each in found]) for found in (whole, gaps)]
    assert abs(shares[1] - shares[0]) < (0.06 if correlation == 0 else 0.2)
