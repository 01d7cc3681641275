"""The demo beside busy loops is judged by what a quiet run found."""

from __future__ import annotations

import os
import time

import pytest
from synthetic import Script, compare_run

from heapwise.analysis.verdicts.rows import make_rows
from heapwise.evidence import Evidence
from workshop.busy_demo import busy, quiet_ratios, summary, told

TIMES = {"glibc": 1.0, "glibc-control": 1.0, "heapwise": 0.97, "scudo": 1.15, "jemalloc": 1.0}


def evidence() -> Evidence:
    return Evidence(compare_run(Script(time=TIMES, memory=dict.fromkeys(TIMES, 1.0))))


def test_a_verdict_against_the_direction_of_a_quiet_run_is_wrong() -> None:
    rows = make_rows(evidence())
    right = told(rows)
    assert summary(right) == "2 of 6 told apart from glibc, 0 wrong"
    wrong = told(rows, {"heapwise": 0.97, "scudo": 0.9})
    assert [one.subject for one in wrong if one.is_wrong] == ["scudo"]
    assert "WRONG" in str(next(one for one in wrong if one.is_wrong))


def test_the_figures_of_a_quiet_run_can_take_the_place_of_the_published_ones() -> None:
    found = quiet_ratios(evidence())
    assert found["scudo"] == pytest.approx(1.15, rel=0.01)
    assert not any(one.is_wrong for one in told(make_rows(evidence()), found))


def test_loops_are_busy_and_end() -> None:
    before = os.times().children_user
    with busy(2):
        time.sleep(0.5)
    assert os.times().children_user > before
