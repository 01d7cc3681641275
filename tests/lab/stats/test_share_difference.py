"""A difference of two shares against a margin, and how often the test errs."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest

from heapwise.stats.claims.share_difference import p_beyond_margin


def chance(count: int, runs: int, share: float) -> float:
    return comb(runs, count) * share**count * (1 - share) ** (runs - count)


@pytest.mark.parametrize("margin", [0.05, 0.3])
def test_the_level_is_kept_for_each_share_of_the_base(margin: float) -> None:
    runs, base_runs = 12, 16
    tables = list(product(range(runs + 1), range(base_runs + 1)))
    found = {
        (count, other): p_beyond_margin((count, runs), (other, base_runs), margin)
        for count, other in tables
    }
    for level in (0.001, 0.01, 0.05):
        errors = [
            sum(
                chance(count, runs, share + margin) * chance(other, base_runs, share)
                for count, other in tables
                if found[count, other] <= level
            )
            for share in (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6)
        ]
        assert max(errors) <= level * 1.01
        assert max(errors) >= level * 0.2


def test_a_difference_within_the_margin_shows_nothing() -> None:
    assert p_beyond_margin((10, 100), (0, 200), 0.1) == 1
    assert p_beyond_margin((10, 10), (0, 20), 1.5) == 1


def test_more_runs_or_a_smaller_margin_show_more() -> None:
    few = p_beyond_margin((5, 25), (0, 50), 0.1)
    assert p_beyond_margin((20, 100), (0, 200), 0.1) < few / 5
    assert p_beyond_margin((5, 25), (0, 50), 0.05) < few
    assert p_beyond_margin((300, 1000), (0, 2000), 0.1) < 1e-9
