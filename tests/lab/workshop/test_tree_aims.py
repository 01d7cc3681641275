"""The aims of the binary trees, which are judged at the published depth."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic_trees import PEAKS, TIMES, Trees, trees_run

from heapwise.evidence import Evidence
from heapwise.store import StoredRun
from heapwise.trust import check_run
from workshop.aims import Goal, goals


def judged(stored: StoredRun) -> list[Goal]:
    evidence = Evidence(stored)
    return goals(evidence, check_run(evidence))


def goal(found: list[Goal], name: str) -> Goal:
    return next(each for each in found if each.cell.startswith(name))


def test_goals_are_those_of_the_published_depth() -> None:
    found = judged(trees_run(Trees(budget=True)))
    verdicts = {g.cell.partition(" (")[0]: g.verdict for g in found}
    assert set(verdicts.values()) == {"met"}, verdicts
    assert len(verdicts) == 10
    best = goal(found, "trees by malloc")
    assert best.compared == "malloc@heapwise / any other malloc (malloc@mimalloc)"
    assert best.ratio == pytest.approx(2.5 / 2.0, rel=0.02)
    other = judged(trees_run(Trees(depth=18)))
    assert {g.verdict for g in other} == {"not measured"}
    assert {g.note for g in other} == {"no row of depth 21"}


@pytest.mark.parametrize(
    ("name", "times", "peaks"),
    [
        ("trees by malloc", {"malloc@mimalloc": 2.1}, {}),
        ("trees by malloc", {"dlmalloc": 2.1}, {}),
        ("at no more memory", {}, {"malloc@mimalloc": 120.0}),
        ("malloc before collectors, time", {"java_g1": 1.8}, {}),
        ("malloc before collectors, peak", {}, {"ocaml": 100.0}),
        ("trees by pool", {"pool": 1.8}, {}),
        ("trees by arena", {"arena": 1.2}, {}),
        ("collector, one marker", {"tiny_gc": 4.5}, {}),
        ("collector, four markers", {"boehm_4": 4.0}, {}),
        ("collector, peak memory, four", {}, {"tiny_gc": 230.0}),
    ],
)
def test_a_goal_that_is_missed_is_reported(
    name: str, times: dict[str, float], peaks: dict[str, float]
) -> None:
    found = judged(trees_run(Trees(times=TIMES | times, peaks=PEAKS | peaks)))
    assert goal(found, name).verdict == "not met"


def test_no_more_memory_is_asked_of_the_fastest_other_only() -> None:
    found = judged(trees_run(Trees(peaks=PEAKS | {"malloc@jemalloc": 10.0})))
    assert goal(found, "at no more memory").verdict == "met"


def test_a_rival_that_was_wrong_once_decides_no_goal() -> None:
    """Its good rounds are fast enough to miss the goal, and do not count."""
    stored = trees_run(Trees(times=TIMES | {"dlmalloc": 1.0}))
    assert goal(judged(stored), "trees by malloc").verdict == "not met"
    wrong = next(p for p in stored.processes if p.subject == "dlmalloc")
    stored.processes[stored.processes.index(wrong)] = replace(wrong, status="output_differs")
    found = goal(judged(stored), "trees by malloc")
    assert found.verdict == "met"
    assert "malloc@mimalloc" in found.compared


def test_a_row_that_was_wrong_is_not_measured_and_no_rival() -> None:
    lost = {
        "ocaml": ("output_differs", "line 3 is wrong"),
        "malloc@mimalloc": ("crashed", "crashed (SIGSEGV)"),
    }
    found = judged(trees_run(Trees(lost=lost)))
    assert goal(found, "trees by arena").verdict == "not measured"
    assert "dlmalloc" in goal(found, "trees by malloc").compared, "the best of those that worked"
