from __future__ import annotations

import statistics

import pytest

from heapwise.stats.basics.summary import summarise

# The nine pool-alloc-like values below have figures that can be checked by hand.
VALUES = [6.0, 7.0, 7.0, 8.0, 9.0, 6.0, 7.0, 7.0, 24.0]


def test_against_the_standard_library() -> None:
    found = summarise(VALUES)
    assert (found.n, found.min, found.median, found.max) == (9, 6.0, 7.0, 24.0)
    assert found.mean == pytest.approx(9.0)
    assert found.stddev == pytest.approx(statistics.stdev(VALUES))


def test_an_outlier_is_kept() -> None:
    assert summarise(VALUES).max == 24.0


def test_one_value_has_no_deviation() -> None:
    assert summarise([3.0]).stddev is None


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")]])
def test_nonsense_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="a summary needs"):
        summarise(values)
