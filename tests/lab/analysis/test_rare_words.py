"""Rare runs that are much larger: the typical run is not the program."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import Script, compare_run
from synthetic_beside import with_rounds_beside

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import SIDE_BY_SIDE, Result

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


def test_the_ratio_of_the_baseline_to_itself_says_nothing_of_rare_runs() -> None:
    """Side by side it is always 1. A subject that scatters more than the second label, and more
    above its middle than below, has no rare runs."""
    ratios = {"glibc-control": 1.0, "jemalloc": 1.0}
    stored = with_rounds_beside(compare_run(), ratios, rounds=90, noise=0.03)

    def skewed(ratio: float) -> float:
        return float(ratio ** (3.5 if ratio > 1 else 1.4))

    wider = [
        replace(each, values={SIDE_BY_SIDE: skewed(each.values[SIDE_BY_SIDE])})
        if each.subject == "jemalloc" and SIDE_BY_SIDE in each.values
        else each
        for each in stored.samples
    ]
    stored = replace(stored, samples=wider)
    found = analyse(Evidence(stored))
    rows = [row for row in found.rows if row.quantity == SIDE_BY_SIDE]
    assert rows
    assert not any("as a typical run" in text for text in [found.advice, *(r.note for r in rows)])


def test_one_sentence_says_who_has_rare_runs() -> None:
    script = Script(
        time=EQUAL,
        memory=EQUAL,
        rounds=28,
        bend=lambda name, number, value: (
            value * 10 if name in ("jemalloc", "mimalloc") and number in LARGE else value
        ),
    )
    advice = analyse(Evidence(compare_run(script))).advice
    assert advice.count("as a typical run") == 1
    assert "has such runs, too." in advice
