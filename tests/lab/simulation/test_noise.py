"""The noise of the simulated campaigns is what it is called."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kurtosis, skew

from simulation.noise import SHAPES, Shape, noise


def drawn(shape: Shape, correlation: float = 0.0) -> np.ndarray:
    return noise(np.random.default_rng(1), shape, (200, 500), correlation)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_mean_0_and_deviation_1(shape: Shape, correlation: float) -> None:
    values = drawn(shape, correlation)
    assert values.mean() == pytest.approx(0, abs=0.02)
    assert values.std() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_round_is_like_the_one_before_it_as_far_as_it_says(shape: Shape) -> None:
    for correlation in (0.0, 0.5):
        values = drawn(shape, correlation)
        found = np.corrcoef(values[:, 1:].ravel(), values[:, :-1].ravel())[0, 1]
        assert found == pytest.approx(correlation, abs=0.02)


def test_the_shapes_are_those_that_their_names_say() -> None:
    assert skew(drawn("skewed"), axis=None) > 1.5
    assert kurtosis(drawn("heavy"), axis=None) > 5
    assert kurtosis(drawn("bimodal"), axis=None) < -1
    assert abs(kurtosis(drawn("normal"), axis=None)) < 0.1
