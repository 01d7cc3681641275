from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import quantile_test

from heapwise.stats.basics.quantiles import (
    median_interval,
    quantile,
    quantile_interval,
    values_needed,
)


@pytest.mark.parametrize(
    ("n", "ranks"), [(6, (1, 6)), (9, (2, 8)), (10, (2, 9)), (20, (6, 15)), (30, (10, 21))]
)
def test_published_ranks_of_the_median(n: int, ranks: tuple[int, int]) -> None:
    found = median_interval([float(i) for i in range(1, n + 1)])
    assert (found.low, found.high) == ranks
    assert found.coverage is not None
    assert found.coverage >= 0.95


@pytest.mark.parametrize(("n", "q"), [(40, 0.5), (200, 0.9), (400, 0.99), (80, 0.25)])
def test_against_scipy(n: int, q: float) -> None:
    values = np.random.default_rng(n).lognormal(0, 1, n)
    found = quantile_interval(list(values), q)
    theirs = quantile_test(values, q=float(np.quantile(values, q)), p=q)
    theirs = theirs.confidence_interval(confidence_level=0.95)
    ordered = list(np.sort(values))
    for ours, other in ((found.low, theirs.low), (found.high, theirs.high)):
        # Same order statistic, or the neighbour: scipy puts the odd value on the other side.
        if np.isfinite(other):
            assert abs(ordered.index(ours) - ordered.index(other)) <= 1


def test_needs_six_for_a_median_and_says_so() -> None:
    assert values_needed(0.5) == 6
    found = median_interval([1.0] * 5)
    assert found.low is None
    assert "needs 6" in found.note


def test_needs_hundreds_for_a_far_tail() -> None:
    assert values_needed(0.99) == 299
    assert quantile_interval([1.0] * 298, 0.99).low is None
    assert quantile_interval([float(i) for i in range(299)], 0.99).high == 298.0


def test_quantile_is_the_known_one() -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.5
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile([1.0], 1.5)


@pytest.mark.parametrize(("n", "q"), [(6, 0.5), (11, 0.5), (60, 0.9), (300, 0.99)])
def test_coverage_is_what_it_says(n: int, q: float) -> None:
    random = np.random.default_rng(7)
    truth = -np.log(1 - q)
    hits = 0
    for _ in range(1500):
        found = quantile_interval(list(random.exponential(1, n)), q)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
    assert hits / 1500 >= 0.95 - 3 * 0.0056
