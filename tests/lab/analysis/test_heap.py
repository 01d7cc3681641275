"""The heap family: which is behind which, the map, the goals, and the sentences about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from synthetic import compare_run, pool_run
from synthetic_heap import BASE, MIX, SPEED, Heap, experiment_of, heap_run

from heapwise.analysis import analyse, goal_line
from heapwise.analysis.goals import goals
from heapwise.analysis.speed_memory import speed_memory
from heapwise.analysis.standing import Standing, aspect_of, standings
from heapwise.evidence import Evidence
from heapwise.model import Goal, Identity, Library, Parameter, Quantity, Subject, Trust
from heapwise.store import StoredRun

OURS = "malloc@heapwise"
PLAIN = heap_run()
SEEN = Evidence(PLAIN)
"""Most tests ask it, and what it has computed for one is there for the next."""

GOOD = Trust("good", [])

PEERS = (*SPEED, "malloc@snmalloc", "malloc@rpmalloc")


def complete(**changes: Any) -> Heap:
    """With all the peers that the goal of peak memory names."""
    found = Heap(**changes)
    for name in ("malloc@snmalloc", "malloc@rpmalloc"):
        found.speed.setdefault(name, 1.2)
        found.lean.setdefault(name, 1.05)
    return found


def standing(found: list[Standing], experiment: str, quantity: str, threads: int = 1) -> Standing:
    return next(
        s
        for s in found
        if s.cell.experiment == experiment
        and s.cell.quantity == quantity
        and s.cell.parameters["threads"] == threads
    )


def goal(stored: StoredRun, says: str) -> Goal:
    evidence = SEEN if stored is PLAIN else Evidence(stored)
    return next(g for g in goals(evidence, GOOD) if g.cell.startswith(says))


def test_behind_is_a_factor_whatever_the_direction() -> None:
    found = standings(SEEN)
    for quantity in ("throughput", "alloc_p99"):
        row = standing(found, "heap/rl_small", quantity)
        assert row.best == OURS
        assert row.places[BASE].behind == pytest.approx(1.9, rel=0.02)
        assert row.places["malloc@mimalloc"].behind == pytest.approx(1.9 / 1.6, rel=0.02)
        assert row.level() == [OURS]
    peak = standing(found, "heap/rl_small", "peak_resident", 16)
    assert peak.places["malloc@mimalloc"].behind == pytest.approx(1.2 / 0.85, rel=0.02)


def test_equals_are_level_and_the_workloads_own_figure_is_not_ranked() -> None:
    found = standings(SEEN)
    assert BASE in standing(found, "heap/rl_small", "overhead_ratio").level()
    assert not [s for s in found if s.cell.quantity == "peak_live"]
    assert not [s for s in found if f"{BASE}-control" in s.places]


def test_a_subject_that_crashed_even_once_is_not_ranked() -> None:
    processes = [
        replace(p, status="crashed") if p.subject == OURS and p.round == 3 else p
        for p in PLAIN.processes
    ]
    found = standings(Evidence(replace(PLAIN, processes=processes)))
    assert all(OURS not in s.places for s in found)


@pytest.mark.parametrize(
    ("quantity", "aspect"),
    [
        (Quantity("throughput", "Mops/s", "higher"), "speed"),
        (Quantity("pair", "ns/op", "lower"), "speed"),
        (Quantity("alloc_p99_9", "ns", "lower"), "latency"),
        (Quantity("resident_over_live", "x", "lower"), "memory"),
        (Quantity("peak_memory", "bytes", "lower"), "memory"),
        (Quantity("page_faults", "count", "lower"), "other"),
    ],
)
def test_aspects(quantity: Quantity, aspect: str) -> None:
    assert aspect_of(quantity) == aspect


def test_the_map_has_the_planted_means_with_the_baseline_at_one() -> None:
    found = speed_memory(SEEN, "heap")
    assert found is not None
    assert len(found.rows) == 12
    spots = {s.subject: s for s in found.spots}
    for name, speed in SPEED.items():
        low, middle, high = spots[name].speed
        assert middle == pytest.approx(speed, rel=0.01)
        assert low <= middle <= high
    assert spots[OURS].memory[1] == pytest.approx(0.85, rel=0.01)
    assert spots[BASE].baseline
    assert spots[f"{BASE}-control"].control


def test_a_mean_over_survivors_is_refused_and_said() -> None:
    lost = heap_run(Heap(lost=lambda e, s, p: s == "malloc@tcmalloc" and p.get("threads") == 16))
    found = speed_memory(Evidence(lost), "heap")
    assert found is not None
    assert "malloc@tcmalloc" not in {s.subject for s in found.spots}
    assert found.left_out == {"malloc@tcmalloc": "measured in 8 of 12 rows"}


def test_there_is_no_map_without_the_family() -> None:
    assert speed_memory(Evidence(pool_run(6)), "heap") is None
    assert speed_memory(Evidence(compare_run()), "heap") is None


def test_goals_over_rows_are_met_with_every_row_in_them() -> None:
    found = goal(PLAIN, "every throughput and latency row")
    assert (found.verdict, len(found.parts)) == ("met", 60)
    assert "60 met of 60 rows" in found.note
    assert found.ratio == min(part.ratio or 9 for part in found.parts)
    assert "best peer (malloc@mimalloc)" in found.of


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
    headline = next(h for h in analyse(Evidence(stored)).headlines if h.startswith(f"{OURS} loses"))
    assert "in 1 of" in headline
    assert "rl_medium throughput threads=2 (1.04x behind malloc@mimalloc)" in headline


def test_the_mean_is_against_the_best_single_peer() -> None:
    found = goal(PLAIN, "geometric mean")
    assert "malloc@mimalloc" in found.of
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


def test_by_header_counts_against_every_preloaded_malloc_ours_too() -> None:
    assert goal(by_header(2.3), "pair by header").verdict == "met"
    assert goal(by_header(1.8), "pair by header").verdict == "not met"
    assert goal(PLAIN, "pair by header").verdict == "not measured"


def with_ours_in_the_program(*families: str) -> Evidence:
    """One row of each family: ours takes 6 ns, ours by header 3 ns, and all others 8 ns."""
    took = {OURS: 6.0, "heap_inlined": 3.0}
    pairs = [
        replace(
            experiment_of(
                f"{family}/pair", [Quantity("pair", "ns/op", "lower")], [*SPEED, "heap_inlined"]
            ),
            family=family,
        )
        for family in families
    ]
    return Evidence(
        heap_run(
            Heap(
                extra=pairs,
                threads=[1],
                bend=lambda *cell: took.get(cell[1], 8.0) if cell[3] == "pair" else cell[-1],
            )
        )
    )


def test_advice_never_names_a_heap_that_is_compiled_in_among_libraries() -> None:
    advice = analyse(with_ours_in_the_program("heap")).advice
    assert advice.startswith("Best of 5 cells: malloc@heapwise in 5. ")


def test_a_heap_is_ranked_apart_only_in_the_experiments_where_libraries_compete() -> None:
    evidence = with_ours_in_the_program("heap", "memory")
    best = {s.cell.experiment: s.best for s in standings(evidence) if s.quantity.name == "pair"}
    assert best == {"heap/pair": OURS, "memory/pair": "heap_inlined"}
    assert "heap_inlined in 1." in analyse(evidence).advice


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
    assert {g.verdict for g in analyse(Evidence(stored)).goals} == {
        "cannot tell here",
        "not measured",
    }


def test_without_our_heap_there_is_neither_goal_nor_loss() -> None:
    stored = heap_run(Heap(speed={k: v for k, v in SPEED.items() if k != OURS}))
    result = analyse(Evidence(stored))
    assert result.goals == []
    assert not [h for h in result.headlines if "loses" in h]
    assert any(
        h.startswith("fastest of 12 rows: malloc@mimalloc alone in 12") for h in result.headlines
    )


def test_headlines_name_the_subject_that_leads_and_where() -> None:
    lines = analyse(SEEN).headlines
    assert (
        "fastest of 12 rows: malloc@heapwise alone in 12 (rl_small 3, rl_medium 3, "
        "fragmentation_mix 3, alignment64 3)"
    ) in lines
    assert any(h.startswith("least peak memory of 12 rows: malloc@heapwise") for h in lines)
    smoke = replace(PLAIN, run=replace(PLAIN.run, plan=replace(PLAIN.run.plan, smoke=True)))
    assert (analyse(Evidence(smoke)).headlines, analyse(Evidence(smoke)).goals) == ([], [])


def renamed(stored: StoredRun, old: str, new: str) -> StoredRun:
    def subject(s: Subject) -> Subject:
        return replace(s, name=new, title=new) if s.name == old else s

    plan = replace(stored.run.plan, subjects=[subject(s) for s in stored.run.plan.subjects])
    experiments = [
        replace(e, subjects=[replace(s, name=new) if s.name == old else s for s in e.subjects])
        for e in stored.run.experiments
    ]
    return replace(
        stored,
        run=replace(stored.run, plan=plan, experiments=experiments),
        processes=[replace(p, subject=new) if p.subject == old else p for p in stored.processes],
        samples=[replace(s, subject=new) if s.subject == old else s for s in stored.samples],
    )


def test_no_favour_another_name_changes_nothing_but_the_name() -> None:
    """Rows, advice, standings and the first lines are the same for ours under any name."""
    other = renamed(PLAIN, OURS, "malloc@zzz")
    mine, theirs = analyse(SEEN), analyse(Evidence(other))
    assert [replace(r, subject="") for r in mine.rows] == [
        replace(r, subject="") for r in theirs.rows
    ]
    assert mine.advice == theirs.advice.replace("zzz", "heapwise")
    assert [h for h in mine.headlines if "loses" not in h] == [
        h.replace("zzz", "heapwise") for h in theirs.headlines
    ]
    for a, b in zip(standings(SEEN), standings(Evidence(other)), strict=True):
        assert list(a.places) == [n.replace("zzz", "heapwise") for n in b.places]
        assert a.best == b.best.replace("zzz", "heapwise")


def test_mix_is_what_the_seed_asks_for() -> None:
    assert {"throughput", "overhead_ratio", "peak_live"} < {q.name for q in MIX}
