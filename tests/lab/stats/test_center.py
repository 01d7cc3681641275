"""The middle of a few rounds, with an interval that the quantity allows."""

from __future__ import annotations

import pytest

from heapwise.stats.series.center import location_interval


@pytest.mark.parametrize("rounds", [[1.0, 5.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 3.0]])
def test_a_count_has_no_interval_below_zero(rounds: list[float]) -> None:
    found = location_interval(rounds)
    assert found.low == 0.0
    assert found.high is not None
    assert found.high > max(rounds) / len(rounds)


def test_a_quantity_that_can_be_negative_keeps_its_interval() -> None:
    found = location_interval([-1.0, 0.0, 1.0])
    assert found.low is not None
    assert found.low < -1.0


def test_fewer_than_three_rounds_have_no_interval() -> None:
    found = location_interval([1.0, 2.0])
    assert (found.low, found.high) == (None, None)
    assert "2 of the 3 rounds" in found.note
