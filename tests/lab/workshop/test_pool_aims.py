"""The aims of the pools, and whom they mean by their rivals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from synthetic import POOL, pool_run
from synthetic_blocks import bulk

from heapwise.analysis.verdicts.roles import OTHER_POOL
from heapwise.evidence import Evidence
from heapwise.store import StoredRun
from heapwise.trust import check_run
from workshop.aims import Goal, goal_line, goals
from workshop.aims.rivals import ANY_OTHER, BEST_PEER, members


def goal_of(stored: StoredRun, says: str) -> Goal:
    evidence = Evidence(stored)
    found = goals(evidence, check_run(evidence))
    return next(goal for goal in found if goal.cell.startswith(says))


def test_goals_are_computed_not_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    goal = goal_of(pool_run(rounds=6, threads=[4]), "4 threads, one pool")
    assert (goal.verdict, goal.aim) == ("met", "at least 2.00x")
    assert goal.cell == "4 threads, one pool (concurrent alloc_free)"
    assert goal.low is not None
    assert goal.low >= 2
    monkeypatch.setitem(POOL, "thread_cached", 90.0)
    assert goal_of(pool_run(rounds=6, threads=[4]), "4 threads, one pool").verdict == "not met"


def test_a_goal_within_the_interval_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POOL, "boost_pool", POOL["unsynchronized"] * 1.1)
    goal = goal_of(bulk("write"), "free by address")
    assert goal.verdict == "cannot tell here"
    assert goal.low is not None
    assert goal.high is not None
    assert goal.low < 1.1 < goal.high


def test_a_goal_is_about_every_use_of_the_blocks_and_each_rival(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goal = goal_of(bulk("write", "all"), "free by address")
    assert [part.cell for part in goal.parts] == ["bulk free touch=write", "bulk free touch=all"]
    assert goal.verdict == "met"
    monkeypatch.setitem(POOL, "malloc@mimalloc", 0.5)
    goal = goal_of(bulk("write", "all"), "free by address")
    assert (goal.verdict, "malloc@mimalloc" in goal.compared) == ("not met", True)


def test_contention_takes_two_processors() -> None:
    stored = pool_run(rounds=6, threads=[1, 2])
    goal = goal_of(stored, "contended, without a lock")
    assert (goal.verdict, "threads=2" in goal.cell) == ("met", True)
    alone = replace(stored, run=replace(stored.run, machine=replace(stored.run.machine, cores=1)))
    goal = goal_of(alone, "contended, without a lock")
    assert goal.verdict == "cannot tell here"
    assert "one processor" in goal_line(goal)


def test_a_goal_is_not_met_if_a_rival_is_missing() -> None:
    stored = pool_run(rounds=6, threads=[4])
    samples = [s for s in stored.samples if not s.subject.startswith("malloc@")]
    goal = goal_of(replace(stored, samples=samples), "4 threads, one pool")
    assert (goal.verdict, goal.ratio) == ("not measured", None)


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (ANY_OTHER, ["boost_pool", "malloc@glibc"]),
        (OTHER_POOL, ["boost_pool"]),
        (BEST_PEER, ["malloc@glibc"]),
    ],
)
def test_rivals_are_the_allocators_of_others(role: str, expected: list[str]) -> None:
    names = [
        "unsynchronized_huge_pages",
        "thread_cached",
        "bare_list",
        "boost_pool",
        "malloc@heapwise",
        "malloc@heapwise-guarded",
        "malloc@glibc",
    ]
    row: Any = dict.fromkeys(names)
    assert members(Evidence(pool_run()), row, role) == expected
