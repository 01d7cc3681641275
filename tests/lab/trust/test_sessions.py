"""Rounds of two days: a subject that the day changes has no verdict."""

from __future__ import annotations

import pytest
from planted import of_two_days, verdict_of

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.stats.basics.student import differ
from heapwise.store import StoredRun


def word_of(stored: StoredRun, subject: str = "jemalloc") -> tuple[str, str]:
    row = next(
        r
        for r in analyse(Evidence(stored)).rows
        if (r.subject, r.quantity) == (subject, "wall_time")
    )
    return row.verdict, row.note


def test_a_ratio_of_two_days_that_differs_is_not_one_figure() -> None:
    stored = of_two_days(0.004)
    verdict, note = word_of(stored)
    assert verdict == "cannot tell"
    assert "in one session and 1.0" in note
    found = verdict_of(stored, "V30")
    assert found.verdict == "warn"
    assert "jemalloc: its ratio was" in found.detail


def test_rounds_of_one_day_are_one_session() -> None:
    assert "session" not in word_of(of_two_days(0.008, next_day=1))[1]


def test_days_that_are_alike_keep_their_verdict() -> None:
    alike = [word_of(of_two_days(0.0, seed))[0] for seed in range(20)]
    assert alike.count("no difference") >= 17


@pytest.mark.parametrize(
    ("second", "expected"), [([2.0, 2.1, 1.9, 2.05], True), ([1.0, 1.1, 0.9, 1.02], False)]
)
def test_means_differ(second: list[float], expected: bool) -> None:
    assert differ([1.0, 1.05, 0.95, 1.01], second, 0.05) is expected


def test_constant_values_differ_if_they_are_not_equal() -> None:
    assert differ([1.0] * 3, [2.0] * 3, 0.05)
    assert not differ([1.0] * 3, [1.0] * 3, 0.05)
