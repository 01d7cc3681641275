"""scipy.stats is the oracle: what `heapwise.stats.basics.ranks` computes is what it computes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heapwise.stats.basics.ranks import kendall, mann_whitney, middle_slope

REALS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3))
FEW = st.integers(0, 4).map(float)
"""Values of which many are equal."""
LISTS = st.one_of(
    st.lists(REALS, min_size=3, max_size=60),
    st.lists(FEW, min_size=3, max_size=60),
    st.permutations(range(12)).map(lambda order: [float(each) for each in order]),
)


def differ(values: list[float]) -> bool:
    return len(set(values)) > 1


@given(LISTS.filter(differ))
def test_kendall_in_the_order_of_taking(values: list[float]) -> None:
    places = np.arange(float(len(values)))
    expected = stats.kendalltau(places, values)
    assert kendall(places, np.array(values)) == pytest.approx(
        (expected.statistic, expected.pvalue), rel=1e-9, abs=1e-300
    )


@given(
    st.lists(st.tuples(FEW, FEW), min_size=3, max_size=60).filter(
        lambda pairs: all(differ(list(side)) for side in zip(*pairs, strict=True))
    )
)
def test_kendall_with_ties_on_both_sides(pairs: list[tuple[float, float]]) -> None:
    first, second = np.array(pairs).T
    expected = stats.kendalltau(first, second)
    assert kendall(first, second) == pytest.approx(
        (expected.statistic, expected.pvalue), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("count", [6, 33, 34, 200])
def test_kendall_of_sorted_values(count: int) -> None:
    places = np.arange(float(count))
    for values in (places, -places, np.concatenate([places[1::-1], places[2:]])):
        expected = stats.kendalltau(places, values)
        assert kendall(places, values) == pytest.approx(
            (expected.statistic, expected.pvalue), rel=1e-9, abs=1e-300
        )


@given(LISTS, LISTS)
def test_mann_whitney(first: list[float], second: list[float]) -> None:
    expected = stats.mannwhitneyu(first, second).pvalue
    assert mann_whitney(np.array(first), np.array(second)) == pytest.approx(expected, rel=1e-9)


@given(st.permutations(range(19)), st.integers(1, 18))
def test_mann_whitney_without_ties(order: list[int], count: int) -> None:
    first, second = np.array(order[:count], float), np.array(order[count:], float)
    expected = stats.mannwhitneyu(first, second).pvalue
    assert mann_whitney(first, second) == pytest.approx(expected, rel=1e-9)


@given(
    st.lists(st.tuples(REALS, FEW), min_size=3, max_size=40).filter(
        lambda pairs: differ([place for _, place in pairs])
    )
)
def test_the_middle_slope_is_that_of_theil_and_sen(pairs: list[tuple[float, float]]) -> None:
    values, places = np.array(pairs).T
    assert middle_slope(values, places) == pytest.approx(
        stats.theilslopes(values, places)[0], rel=1e-9, abs=1e-9
    )
