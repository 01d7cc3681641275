"""Rounds that depend on each other are noticed, and intervals widened; others hardly."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from heapwise.analysis.verdict import judge
from heapwise.stats.dependence import INDEPENDENT, dependence
from heapwise.stats.noise import noise_floor
from heapwise.stats.paired import ratio_of_logs

CAMPAIGNS = 400


def noise(
    random: np.random.Generator, subjects: int, rounds: int, correlation: float
) -> NDArray[np.float64]:
    """Autoregressive, of standard deviation 1; shape (subjects, rounds)."""
    values = random.normal(size=(subjects, rounds))
    for number in range(1, rounds):
        values[:, number] = (correlation * values[:, number - 1]
                             + np.sqrt(1 - correlation**2) * values[:, number])
    return values


def campaign(
    random: np.random.Generator, rounds: int, correlation: float, effect: float
) -> tuple[list[str], float]:
    """Verdicts of three subjects beside a baseline and its control; and the factor."""
    base, control, *subjects = 0.005 * noise(random, 5, rounds, correlation)
    series = [control - base, *(each + effect - (base + control) / 2 for each in subjects)]
    factor = dependence(series).factor
    floor = noise_floor(np.exp(base).tolist(), np.exp(control).tolist(), factor)
    assert floor is not None
    return [judge(ratio_of_logs(logs).widened(factor), "lower", floor.floor)
            for logs in series[1:]], factor


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("rounds", [6, 8, 14, 31])
def test_identical_subjects_are_hardly_ever_called_different(
    rounds: int, correlation: float
) -> None:
    random = np.random.default_rng(rounds)
    words = [word for _ in range(CAMPAIGNS)
             for word in campaign(random, rounds, correlation, 0.0)[0]]
    false = sum(word in ("better", "worse") for word in words)
    expected = 0.01 * len(words)
    assert false <= expected + 3 * np.sqrt(expected)


def test_independent_rounds_pay_little_and_a_true_difference_is_found() -> None:
    random = np.random.default_rng(1)
    found = [campaign(random, 14, 0.0, 0.01) for _ in range(CAMPAIGNS)]
    assert np.mean([factor for _, factor in found]) < 1.12
    assert np.mean([word == "worse" for words, _ in found for word in words]) >= 0.9


def test_a_long_series_is_estimated_well() -> None:
    found = dependence(noise(np.random.default_rng(2), 4, 500, 0.5).tolist())
    assert found.lag_one == pytest.approx(0.5, abs=0.06)
    assert found.factor == pytest.approx(2, rel=0.1)
    assert found.p_value < 0.01


@pytest.mark.parametrize("series", [[], [[1.0, 2.0, 3.0, 4.0]], [[1.0] * 9]])
def test_too_little_to_tell_counts_as_independent(series: list[list[float]]) -> None:
    assert dependence(series) == INDEPENDENT
