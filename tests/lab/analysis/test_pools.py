"""The pool family: its goals, and no sentence about blocks that nobody uses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from synthetic import POOL, pool_run

from heapwise.analysis import analyse, goal_line
from heapwise.analysis.as_json import to_json
from heapwise.analysis.roles import ANY_OTHER, BEST_PEER, OTHER_POOL, members
from heapwise.analysis.standing import standings
from heapwise.evidence import Evidence
from heapwise.model import Answer, Goal, Parameter
from heapwise.store import StoredRun


def goal_of(stored: StoredRun, says: str) -> Goal:
    return next(g for g in analyse(Evidence(stored)).goals if g.cell.startswith(says))


def crossed(stored: StoredRun, name: str, *values: Any) -> StoredRun:
    """Every process and sample again for each value of one more parameter."""
    processes, samples = [], []
    for value in values:
        first = len(processes)
        processes += [
            replace(p, number=p.number + first, parameters={**p.parameters, name: value})
            for p in stored.processes
        ]
        samples += [
            replace(s, process=s.process + first, parameters={**s.parameters, name: value})
            for s in stored.samples
        ]
    declared = Parameter(name, name, list(values), list(values))
    answer = Answer("free", "unsynchronized", "boost_pool")
    experiments = [
        replace(e, parameters=[*e.parameters, declared], answers=[answer])
        for e in stored.run.experiments
    ]
    return replace(
        stored,
        run=replace(stored.run, experiments=experiments),
        processes=processes,
        samples=samples,
    )


def bulk(*uses: str, order: str = "address") -> StoredRun:
    return crossed(crossed(pool_run(rounds=8), "free_order", order), "touch", *uses)


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
    assert (goal.verdict, "malloc@mimalloc" in goal.of) == ("not met", True)


def test_rows_of_blocks_that_nobody_uses_are_only_in_the_tables() -> None:
    """Its figures are in the tables. Without it, all the same sentences are there."""
    stored = bulk("none", "write", "all")
    result = analyse(Evidence(stored))
    assert {row.parameters["touch"] for row in result.rows} == {"none", "write", "all"}
    said = json.dumps(
        [
            to_json(result)["goals"],
            to_json(result)["expectations"],
            result.headlines,
            [f.sentence for f in result.findings],
            result.advice,
        ]
    )
    assert "write" in said
    assert "none" not in said.replace("null", "")
    assert {f.cell.parameters["touch"] for f in result.findings} == {"write", "all"}
    assert {s.cell.parameters["touch"] for s in standings(Evidence(stored))} == {"write", "all"}
    assert any(f.answer for f in result.findings)
    assert result.goals
    assert result.headlines
    only = analyse(Evidence(bulk("none")))
    assert (only.headlines, only.findings) == ([], [])
    assert all(goal.ratio is None for goal in only.goals)


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
