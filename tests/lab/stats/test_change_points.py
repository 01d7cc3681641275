"""Change points: the divergence of the reference, no spikes, found early, few false ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heapwise.stats.series.change_points import (
    LEAST,
    P_VALUE,
    best_split,
    change_points,
    divergence,
    without_spikes,
)

OTAVA = Path(__file__).parents[2] / "data" / "otava"
sys.path.insert(0, str(OTAVA))
from drawn_series import random_series  # noqa: E402

NEAR = 5
"""Places between a true change and a found one: the tolerance of otava's own tools."""


def places(values: Sequence[float], **more: Any) -> list[int]:
    return [point.index for point in change_points(values, **more)]


def test_the_divergence_is_that_of_otava_on_1000_series() -> None:
    """Recorded by tests/data/otava/record.py with apache-otava 0.8.0."""
    recorded = json.loads((OTAVA / "statistics.json").read_text())
    assert len(recorded) == 1000
    for seed, (index, best, total, squares) in enumerate(recorded):
        values = np.array(random_series(seed))
        q = divergence(values)
        assert q.sum() == pytest.approx(total, rel=1e-9, abs=1e-9)
        assert (q**2).sum() == pytest.approx(squares, rel=1e-9, abs=1e-9)
        found = best_split(values, least=1)
        assert found is not None
        assert found[0] == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert found[1] == index or q[index].max() == pytest.approx(found[0], rel=1e-12)


@pytest.mark.parametrize("delay", ["3", "5", "10", "20", "all"])
def test_the_f1_score_on_public_series_is_at_least_that_of_otava(delay: str) -> None:
    """What an analysis knows that is made ``delay`` values after a change."""
    ours, theirs = np.zeros(3), np.zeros(3)
    for series in json.loads((OTAVA / "series.json").read_text()):
        values, changes = series["values"], series["changes"]
        ends = (
            [len(values)]
            if delay == "all" or not changes
            else [min(len(values), change + int(delay)) for change in changes]
        )
        for end in ends:
            known = [c for c in changes if delay == "all" or c + int(delay) <= end]
            ours += matched(places(values[:end]), known)
            theirs += matched(series["otava"][str(end)], known)
    assert f1(ours) >= f1(theirs), (ours, theirs)


def matched(found: Sequence[int], truth: Sequence[int]) -> tuple[int, int, int]:
    """True positives, false positives and false negatives; each true change is found once."""
    open_, hits = list(truth), 0
    for place in found:
        near = next((change for change in open_ if abs(change - place) <= NEAR), None)
        if near is not None:
            open_.remove(near)
            hits += 1
    return hits, len(found) - hits, len(open_)


def f1(counts: Any) -> float:
    hits, false, missed = counts
    return float(2 * hits / (2 * hits + false + missed))


def level_series(chance: np.random.Generator) -> np.ndarray[Any, Any]:
    return chance.normal(100, chance.choice([0.0, 0.5, 2.0, 5.0]), int(chance.integers(8, 121)))


def test_no_single_spike_makes_a_change_point() -> None:
    """A spike is 3 to 1,000 units large, anywhere."""
    chance = np.random.default_rng(13)
    for _ in range(1000):
        values = level_series(chance)
        place = int(chance.integers(0, len(values)))
        spike = chance.choice([-1, 1]) * chance.choice([3, 8, 20, 90, 1000])
        values[place] += spike
        assert places(values) == [], (values.tolist(), place)


def test_few_series_without_a_change_have_a_change_point() -> None:
    chance = np.random.default_rng(2)
    false = sum(bool(places(level_series(chance))) for _ in range(2000))
    assert false / 2000 <= P_VALUE


@pytest.mark.parametrize("before", [12, 30, 60, 200])
@pytest.mark.parametrize("size", [-0.08, 0.08])
def test_a_lasting_change_is_found_three_values_later(before: int, size: float) -> None:
    """8 % where values scatter by 0.5 %, which is what medians of a quiet machine do."""
    chance = np.random.default_rng(before)
    for _ in range(50):
        values = chance.normal(1.0, 0.005, before + LEAST)
        values[before:] *= 1 + size
        assert before not in places(values[:-1])  # two values are not a level
        [point] = change_points(values)
        assert point.index == before
        assert point.change == pytest.approx(size, abs=0.02)


def test_the_interval_of_a_change_covers_it() -> None:
    chance, covered = np.random.default_rng(5), 0
    for _ in range(400):
        values = chance.normal(100, 1, 40)
        values[20:] *= 1.06
        [point] = change_points(values)
        assert point.low is not None
        assert point.high is not None
        covered += point.low <= 0.06 <= point.high
    assert 0.9 <= covered / 400 <= 0.98


def test_small_changes_can_be_left_out() -> None:
    values = [100.0, 100.1, 99.9, 100.0, 100.1] * 3 + [101.0, 101.1, 100.9, 101.0, 101.1] * 3
    assert places(values) == [15]
    assert places(values, least_change=0.02) == []


def test_a_change_back_is_a_second_change_point() -> None:
    values = [10.0, 10.1] * 10 + [12.0, 12.1] * 5 + [10.0, 10.1] * 10
    assert places(values) == [20, 30]


def test_the_answer_is_the_same_each_time_and_for_each_unit() -> None:
    values = random_series(77)
    assert change_points(values) == change_points(list(values))
    assert places([value * 1e-9 for value in values]) == places(values)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [1.0],
        [1.0] * 5,
        [1.0, 2.0, 3.0, 4.0, 5.0],
        [0.0] * 50,
        [7.0] * 50,
        [1e-15] * 3 + [1e-15] * 9,
    ],
)
def test_nothing_is_found_where_nothing_can_be(values: list[float]) -> None:
    assert change_points(values) == []


def test_values_without_noise() -> None:
    """Counts of allocations are exact."""
    assert places([5.0] * 6 + [6.0] * 3) == [6]
    [point] = change_points([0.0] * 6 + [6.0] * 6)
    assert (point.index, point.change) == (6, None)


def test_spikes_are_replaced_and_levels_stay() -> None:
    level = np.array([1.0, 1.1, 1.0, 1.1, 9.0, 1.1, 1.0, 5.0, 5.1, 5.0, 5.1, 5.0])
    assert without_spikes(level).tolist() == [*level[:4], 1.1, *level[5:]]


def test_a_change_across_the_edges_of_windows_is_found_once() -> None:
    chance = np.random.default_rng(9)
    for place in range(20, 180, 7):
        values = chance.normal(100, 1, 200)
        values[place:] += 10
        [found] = places(values)
        assert abs(found - place) <= 2
