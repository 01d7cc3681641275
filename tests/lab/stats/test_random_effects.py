"""The mean over machines: a published example, its coverage, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.ratios.random_effects import random_effects


def test_without_differences_between_machines_it_is_the_weighted_mean() -> None:
    found = random_effects([0.1, 0.1, 0.1], [0.02, 0.05, 0.03])
    assert found is not None
    assert found.mean == pytest.approx(0.1)
    assert found.between == 0.0
    assert found.low < 0.1 < found.high


def test_the_variance_between_machines_is_that_of_dersimonian_and_laird() -> None:
    """By hand: weights 100, 100, 100; Q = 100 * 0.02 * 100 = 2 of effects 0, 0.1, 0.2."""
    found = random_effects([0.0, 0.1, 0.2], [0.05, 0.05, 0.05])
    assert found is not None
    assert found.between**2 == pytest.approx((400 * 0.02 - 2) / (1200 - 400))
    assert found.mean == pytest.approx(0.1)


def test_the_interval_covers_the_true_mean_in_95_of_100_fleets() -> None:
    random = np.random.default_rng(7)
    hits = 0
    for _ in range(2000):
        errors = random.uniform(0.01, 0.05, 6)
        effects = 0.1 + random.normal(0, 0.03, 6) + random.normal(0, errors)
        found = random_effects(effects.tolist(), errors.tolist())
        assert found is not None
        hits += found.low <= 0.1 <= found.high
    assert hits / 2000 > 0.94


def test_two_machines_have_no_mean() -> None:
    assert random_effects([0.1, 0.2], [0.01, 0.01]) is None
