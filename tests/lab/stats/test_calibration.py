"""The factor of a machine's intervals, by scores of its earlier runs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from heapwise.stats.ratios.calibration_factor import LEAST, calibration_factor, deviation, score

MACHINES = 400


def drawn(runs: int, noise: float, seed: int = 1) -> list[list[float]]:
    """The scores of MACHINES machines, whose errors are ``noise`` times what intervals say."""
    random = np.random.default_rng(seed)
    return [(noise * random.standard_normal(runs)).tolist() for _ in range(MACHINES)]


def coverage(noise: float, factors: list[float]) -> float:
    """How often an interval of 95 % holds the truth if it is widened by one of the factors."""
    return float(np.mean([1 - 2 * stats.norm.sf(1.96 * each / noise) for each in factors]))


def test_a_score_is_as_rare_as_its_p_value() -> None:
    assert score(0.05) == pytest.approx(1.96, abs=0.001)
    assert score(1.0) == 0
    assert score(0.0) == 8


def test_the_deviation_of_normal_scores_is_that_which_they_have() -> None:
    for noise in (0.5, 1.0, 2.0):
        found = [deviation(scores) for scores in drawn(40, noise)]
        assert np.mean(found) == pytest.approx(noise, rel=0.02)


def test_a_few_wild_runs_hardly_change_it() -> None:
    scores = drawn(20, 1.0)
    clean = np.mean([deviation(each) for each in scores])
    wild = np.mean([deviation([*each[:-2], 8.0, 8.0]) for each in scores])
    assert wild < 1.35 * clean


def test_scores_that_are_all_0_ask_for_no_factor() -> None:
    assert calibration_factor([0.0] * 30) == 1


def test_few_runs_have_no_factor() -> None:
    assert calibration_factor([3.0] * (LEAST - 1)) == 1
    assert calibration_factor([3.0] * LEAST) > 2


@pytest.mark.parametrize("runs", [LEAST, 20, 40])
def test_intervals_that_are_right_are_widened_in_one_of_ten_machines(runs: int) -> None:
    factors = [calibration_factor(each) for each in drawn(runs, 1.0)]
    assert np.mean([factor > 1 for factor in factors]) == pytest.approx(0.1, abs=0.05)
    assert np.mean(factors) < 1.05
    assert min(factors) == 1


@pytest.mark.parametrize(
    ("runs", "noise", "least"),
    [(LEAST, 1.5, 0.915), (20, 1.5, 0.925), (40, 1.5, 0.935), (20, 2.0, 0.93)],
)
def test_intervals_that_are_too_narrow_cover_about_95_percent(
    runs: int, noise: float, least: float
) -> None:
    """Without a calibration they cover 81 % with 1.5 times as much noise, and 67 % with twice."""
    assert coverage(noise, [1.0] * MACHINES) < 0.82
    assert coverage(noise, [calibration_factor(each) for each in drawn(runs, noise)]) > least
