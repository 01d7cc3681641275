"""Rates and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from simulation.count import Count, count


@pytest.mark.parametrize(("hits", "rows"), [(0, 60), (3, 60), (57, 60), (60, 60), (10, 1000)])
def test_independent_rows_have_the_interval_of_clopper_and_pearson(hits: int, rows: int) -> None:
    found = count([[number < hits] for number in range(rows)])
    theirs = binomtest(hits, rows).proportion_ci(0.95)
    assert found == Count(hits, rows, rows)
    assert found.interval() == pytest.approx((theirs.low, theirs.high))


def test_rows_of_one_campaign_that_always_agree_count_once() -> None:
    random = np.random.default_rng(1)
    found = count([[bool(hit)] * 5 for hit in random.random(400) < 0.3])
    assert found.effective == pytest.approx(400, rel=0.01)


def test_rows_of_one_campaign_that_are_independent_count_each() -> None:
    found = count((np.random.default_rng(1).random((400, 5)) < 0.3).tolist())
    assert found.effective == pytest.approx(2000, rel=0.1)


def test_a_campaign_without_a_row_does_not_count() -> None:
    assert count([[True], [], [False]]) == Count(1, 2, 2)


@pytest.mark.parametrize(("hits", "expected"), [(0, False), (2, False), (20, True), (1000, True)])
def test_a_promise_is_broken_if_the_whole_interval_is_outside(hits: int, expected: bool) -> None:
    assert Count(hits, 1000, 1000).contradicts(0, 0.01) == expected


def test_never_is_broken_by_once() -> None:
    assert Count(1, 1000, 1000).contradicts(0, 0)
    assert not Count(0, 1000, 1000).contradicts(0, 0)
