"""Rare runs that are much larger: the typical run is not the program."""

from __future__ import annotations

import pytest
from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import Result

EQUAL = dict.fromkeys(Script().time, 1.0)
LARGE = {3, 9, 14, 20, 25}


def result(rounds: set[int], subject: str = "jemalloc", times: float = 10.0) -> Result:
    """The subject takes ``times`` as long in these rounds, and as long as the others else."""
    script = Script(
        time=EQUAL,
        memory=EQUAL,
        rounds=28,
        bend=lambda name, number, value: (
            value * times if name == subject and number in rounds else value
        ),
    )
    return analyse(Evidence(compare_run(script)))


def test_rare_large_runs_take_the_verdict_away() -> None:
    found = result(LARGE)
    row = next(r for r in found.rows if (r.subject, r.quantity) == ("jemalloc", "wall_time"))
    assert row.verdict == "cannot tell"
    assert "5 of 28 runs of jemalloc need 10" in row.note
    assert "and 0 of 56 of glibc" in row.note
    assert "In time, 5 of 28 runs of jemalloc need 10" in found.advice


@pytest.mark.parametrize("rounds", [set(), {7}])
def test_one_large_run_may_be_chance(rounds: set[int]) -> None:
    row = next(
        r for r in result(rounds).rows if (r.subject, r.quantity) == ("jemalloc", "wall_time")
    )
    assert row.verdict == "no difference"
    assert "as a typical run" not in row.note


def test_two_kinds_of_runs_are_named() -> None:
    """An interval of the middle is a needle in one of them."""
    row = next(
        r
        for r in result(set(range(0, 28, 2)), times=2.6).rows
        if (r.subject, r.quantity) == ("jemalloc", "wall_time")
    )
    assert "two kinds of runs: 14 of about 2." in row.note
