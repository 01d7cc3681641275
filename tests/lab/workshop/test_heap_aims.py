"""The aims of the heap family: what is met, what is not, and where ours loses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from synthetic_heap import SPEED, Heap, experiment_of, heap_run

from heapwise.evidence import Evidence
from heapwise.model import Identity, Library, Parameter, Quantity, Trust
from heapwise.store import StoredRun
from heapwise.trust import check_run
from workshop.aims import Goal, goal_line, goals, losses
from workshop.aims.goal import worst_first

OURS = "malloc@heapwise"
PLAIN = heap_run()
SEEN = Evidence(PLAIN)
"""Most tests ask it, and what it has computed for one is there for the next."""

GOOD = Trust("good", [])

PEERS = (*SPEED, "malloc@snmalloc", "malloc@rpmalloc")


def goal(stored: StoredRun, says: str) -> Goal:
    evidence = SEEN if stored is PLAIN else Evidence(stored)
    return next(g for g in goals(evidence, GOOD) if g.cell.startswith(says))


def complete(**changes: Any) -> Heap:
    """With all the peers that the goal of peak memory names."""
    found = Heap(**changes)
    for name in ("malloc@snmalloc", "malloc@rpmalloc"):
        found.speed.setdefault(name, 1.2)
        found.lean.setdefault(name, 1.05)
    return found


def test_goals_over_rows_are_met_with_every_row_in_them() -> None:
    found = goal(PLAIN, "every throughput and latency row")
    assert (found.verdict, len(found.parts)) == ("met", 60)
    assert "60 met of 60 rows" in found.note
    assert found.ratio == min(part.ratio or 9 for part in found.parts)
    assert "best peer (malloc@mimalloc)" in found.compared


def test_one_row_behind_breaks_the_goal_and_is_named() -> None:
    def slow(
        experiment: str, subject: str, cell: dict[str, Any], quantity: str, value: float
    ) -> float:
        here = (experiment, subject, cell.get("threads"), quantity)
        return value * 0.81 if here == ("heap/rl_medium", OURS, 2, "throughput") else value

    stored = heap_run(Heap(bend=slow))
    found = goal(stored, "every throughput and latency row")
    assert found.verdict == "not met"
    assert "worst: rl_medium throughput threads=2" in found.note
    assert [p.cell for p in found.parts if p.verdict == "not met"] == [
        "rl_medium throughput threads=2"
    ]
    assert goal(stored, "no row far behind").verdict == "met"
    headline = next(h for h in losses(Evidence(stored)) if h.startswith(f"{OURS} loses"))
    assert "in 1 of" in headline
    assert "rl_medium throughput threads=2 (1.04x behind malloc@mimalloc)" in headline


def test_the_mean_is_against_the_best_single_peer() -> None:
    found = goal(PLAIN, "geometric mean")
    assert "malloc@mimalloc" in found.compared
    assert found.ratio == pytest.approx(1.9 / 1.6, rel=0.01)
    assert (found.verdict, found.aim) == ("met", "at least 1.15x")
    slower = Heap(speed={**SPEED, OURS: 1.75})
    assert goal(heap_run(slower), "geometric mean").verdict == "not met"


def test_peak_memory_wants_all_the_peers_that_it_names() -> None:
    partial = goal(PLAIN, "peak memory")
    assert partial.verdict == "cannot tell here"
    assert "without snmalloc, rpmalloc" in partial.note
    found = goal(heap_run(complete()), "peak memory")
    assert (found.verdict, found.aim) == ("met", "at most 1.00x")
    assert found.ratio == pytest.approx(0.85 / 0.9, rel=0.03)
    heavier = complete(lean={**complete().lean, OURS: 0.95})
    assert goal(heap_run(heavier), "peak memory").verdict == "not met"


def test_scaling_compares_a_subject_with_itself() -> None:
    assert goal(PLAIN, "16 threads").verdict == "met"
    falls = heap_run(Heap(bend=lambda e, s, p, q, v: v * 0.9 if p.get("threads") == 16 else v))
    found = goal(falls, "16 threads")
    assert (found.verdict, found.ratio) == ("not met", pytest.approx(0.9, rel=0.01))
    without = goal(heap_run(Heap(threads=(1, 2))), "16 threads")
    assert (without.verdict, without.note) == ("not measured", "no rows of threads 16 and 2")


def with_limits(purged: float) -> Heap:
    sizes = experiment_of("heap/size_shift", [Quantity("resident_over_live", "x", "lower")], PEERS)
    idle = experiment_of("heap/idle_purge", [Quantity("resident_2s", "x", "lower")], PEERS)

    def values(
        experiment: str, subject: str, cell: dict[str, Any], quantity: str, value: float
    ) -> float:
        return {"heap/size_shift": 2.5, "heap/idle_purge": purged}.get(experiment, value)

    return Heap(extra=[sizes, idle], bend=values)


def test_limits_are_on_the_value_itself() -> None:
    met, broken = heap_run(with_limits(0.03)), heap_run(with_limits(0.08))
    assert goal(met, "lean while sizes change").verdict == "met"
    assert goal(met, "memory given back").verdict == "met"
    found = goal(broken, "memory given back")
    assert (found.verdict, found.ratio) == ("not met", pytest.approx(0.08, rel=0.02))


def worst_calls(shape: str) -> StoredRun:
    calls = experiment_of("heap/worst_call", [Quantity("alloc_max", "ns", "lower")], PEERS)
    parameter = Parameter("shape", "of the heap", ["size_shift", "survivors"], ["survivors"])
    return heap_run(
        Heap(
            extra=[replace(calls, parameters=[parameter])],
            bend=lambda *cell: (
                (4e6 if cell[2] == {"shape": shape} else 2e5)
                if cell[3] == "alloc_max"
                else cell[-1]
            ),
        )
    )


def test_a_limit_may_be_of_one_setting_only() -> None:
    assert goal(worst_calls("size_shift"), "no long malloc").verdict == "met"
    assert goal(worst_calls("survivors"), "no long malloc").verdict == "not met"
    assert goal(PLAIN, "no long malloc").verdict == "not measured"


def test_by_header_counts_against_every_preloaded_malloc_ours_too() -> None:
    assert goal(by_header(2.3), "pair by header").verdict == "met"
    assert goal(by_header(1.8), "pair by header").verdict == "not met"
    assert goal(PLAIN, "pair by header").verdict == "not measured"


def by_header(factor: float) -> StoredRun:
    pair = experiment_of(
        "heap/pair", [Quantity("pair", "ns/op", "lower")], [*SPEED, "heap_inlined"]
    )

    def value(
        experiment: str, subject: str, cell: dict[str, Any], quantity: str, value: float
    ) -> float:
        if experiment != "heap/pair":
            return value
        return 8.0 if subject != "heap_inlined" else 8.0 / factor

    return heap_run(Heap(extra=[pair], bend=value))


def test_level_counts_in_the_pair_and_only_there() -> None:
    parts = goal(by_header(2.3), "every throughput and latency row").parts
    pair = next(p for p in parts if p.cell == "pair pair")
    assert "counts" in pair.note
    assert pair.ratio == pytest.approx(1.0, abs=0.01)
    assert pair.verdict == "met"
    assert all("counts" not in p.note for p in parts if p.cell != "pair pair")


def test_missing_parts_are_not_measured_and_never_met() -> None:
    lost = heap_run(Heap(lost=lambda e, s, p: s == OURS and p.get("threads") == 16))
    found = goal(lost, "every throughput and latency row")
    assert found.verdict == "cannot tell here"
    assert "20 not measured" in found.note
    assert goal(lost, "geometric mean").verdict == "not measured"
    line = goal_line(goal(PLAIN, "trees by header"))
    assert line.startswith("not measured")
    assert "heap/trees is not in this run" in line


def test_few_rounds_and_one_processor_cannot_tell() -> None:
    few = goal(heap_run(Heap(rounds=2)), "every throughput and latency row")
    assert few.verdict == "cannot tell here"
    alone = replace(PLAIN, run=replace(PLAIN.run, machine=replace(PLAIN.run.machine, cores=1)))
    found = goal(alone, "16 threads")
    assert (found.verdict, found.note) == (
        "cannot tell here",
        "threads do not contend on one processor",
    )


def test_untrustworthy_figures_meet_no_goal() -> None:
    wrong = [Identity(malloc=Library(path="/lib/other.so", build_id="x"))]
    stored = replace(PLAIN, processes=[replace(p, identity=wrong) for p in PLAIN.processes])
    evidence = Evidence(stored)
    assert {g.verdict for g in goals(evidence, check_run(evidence))} == {
        "cannot tell here",
        "not measured",
    }


def test_without_our_heap_there_is_neither_goal_nor_loss() -> None:
    stored = heap_run(Heap(speed={k: v for k, v in SPEED.items() if k != OURS}))
    evidence = Evidence(stored)
    assert goals(evidence, GOOD) == []
    assert losses(evidence) == []


def test_a_smoke_run_has_neither_goal_nor_loss() -> None:
    smoke = replace(PLAIN, run=replace(PLAIN.run, plan=replace(PLAIN.run.plan, smoke=True)))
    assert goals(Evidence(smoke), GOOD) == []
    assert losses(Evidence(smoke)) == []


def test_the_rows_of_a_goal_are_told_with_the_worst_first() -> None:
    slow = ("heap/alignment64", OURS, "throughput")
    bend = Heap(bend=lambda e, s, p, q, v: v * 0.7 if (e, s, q) == slow else v)
    parts = worst_first(goal(heap_run(bend), "every throughput and latency row"))
    assert [g.verdict for g in parts[:4]] == ["not met"] * 3 + ["met"]
    ratios = [g.ratio or 0.0 for g in parts[:3]]
    assert ratios == sorted(ratios)
