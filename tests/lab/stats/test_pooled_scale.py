"""The scatter of a ratio, estimated from all subjects of its cell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import polygamma, psi

from heapwise.stats.ratios.pooled_scale import _digamma, _trigamma, pooled_scales


@pytest.mark.parametrize("x", [0.5, 1.0, 2.5, 6.0, 40.0])
def test_the_functions_are_those_of_scipy(x: float) -> None:
    assert _digamma(x) == pytest.approx(float(psi(x)), abs=1e-8)
    assert _trigamma(x) == pytest.approx(float(polygamma(1, x)), abs=1e-8)


def test_equal_scales_share_all_their_degrees_of_freedom() -> None:
    found = pooled_scales([0.01] * 4, [6] * 4)
    assert all(scale.degrees == 20 for scale in found)
    assert found[0].error == pytest.approx(0.01, rel=0.15)


def test_a_subject_that_scatters_much_more_keeps_most_of_its_own_scale() -> None:
    *others, noisy = pooled_scales([0.01] * 5 + [0.1], [20] * 6)
    assert noisy.error > 0.08
    assert all(scale.error < 0.013 for scale in others)


def test_an_extreme_estimate_is_drawn_to_the_others() -> None:
    """Of six rounds one scale may look half as large by chance."""
    lucky = pooled_scales([0.01, 0.01, 0.011, 0.009, 0.005], [6] * 5)[-1]
    assert 0.008 < lucky.error < 0.011


def test_more_rounds_of_one_series_make_its_error_smaller() -> None:
    few, many = pooled_scales([0.02, 0.01], [7, 28])
    assert few.error == pytest.approx(2 * many.error, rel=0.05)


def test_a_series_without_scatter_keeps_it_and_tells_nothing_of_the_others() -> None:
    still, *others = pooled_scales([0.0, 0.01, 0.01], [9] * 3)
    assert still.error == 0
    assert [scale.error for scale in others] == pooled_errors(0.01, 0.01)


def pooled_errors(*errors: float) -> list[float]:
    return [scale.error for scale in pooled_scales(errors, [9] * len(errors))]


def test_fewer_rounds_and_series_take_more_confidence() -> None:
    def confidence(series: int, rounds: int) -> float:
        return pooled_scales([0.01] * series, [rounds] * series)[0].confidence

    assert confidence(7, 5) > confidence(7, 6) > confidence(7, 9) > confidence(7, 14)
    assert confidence(2, 30) > confidence(7, 30)


@pytest.mark.parametrize("rounds", [6, 14])
def test_errors_are_nearer_to_the_truth_than_those_of_each_series_alone(rounds: int) -> None:
    random = np.random.default_rng(rounds)
    alone, together = [], []
    for _ in range(200):
        errors = random.normal(size=(6, rounds)).std(axis=1, ddof=1) / rounds**0.5
        found = pooled_scales(errors.tolist(), [rounds] * 6)
        alone.append(np.log(errors[0] * rounds**0.5))
        together.append(np.log(found[0].error * rounds**0.5))
    assert np.mean(np.square(together)) < 0.5 * np.mean(np.square(alone))
