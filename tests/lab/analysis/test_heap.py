"""The heap family: which is behind which, the map, and the sentences about them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import compare_run, pool_run
from synthetic_heap import BASE, MIX, SPEED, Heap, experiment_of, heap_run

from heapwise.analysis import analyse
from heapwise.analysis.speed_memory import speed_memory
from heapwise.analysis.verdicts.standing import Standing, aspect_of, standings
from heapwise.evidence import Evidence
from heapwise.model import Quantity, Subject
from heapwise.store import StoredRun

OURS = "malloc@heapwise"
PLAIN = heap_run()
SEEN = Evidence(PLAIN)
"""Most tests ask it, and what it has computed for one is there for the next."""


def standing(found: list[Standing], experiment: str, quantity: str, threads: int = 1) -> Standing:
    return next(
        s
        for s in found
        if s.cell.experiment == experiment
        and s.cell.quantity == quantity
        and s.cell.parameters["threads"] == threads
    )


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


def test_headlines_name_the_subject_that_leads_and_where() -> None:
    lines = analyse(SEEN).headlines
    assert (
        "fastest of 12 rows: malloc@heapwise alone in 12 (rl_small 3, rl_medium 3, "
        "fragmentation_mix 3, alignment64 3)"
    ) in lines
    assert any(h.startswith("least peak memory of 12 rows: malloc@heapwise") for h in lines)
    smoke = replace(PLAIN, run=replace(PLAIN.run, plan=replace(PLAIN.run.plan, smoke=True)))
    assert analyse(Evidence(smoke)).headlines == []


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
    """Rows, advice, standings and headlines are the same for ours under any name."""
    other = renamed(PLAIN, OURS, "malloc@zzz")
    mine, theirs = analyse(SEEN), analyse(Evidence(other))
    assert [replace(r, subject="") for r in mine.rows] == [
        replace(r, subject="") for r in theirs.rows
    ]
    assert mine.advice == theirs.advice.replace("zzz", "heapwise")
    assert mine.headlines == [h.replace("zzz", "heapwise") for h in theirs.headlines]
    for a, b in zip(standings(SEEN), standings(Evidence(other)), strict=True):
        assert list(a.places) == [n.replace("zzz", "heapwise") for n in b.places]
        assert a.best == b.best.replace("zzz", "heapwise")


def test_mix_is_what_the_seed_asks_for() -> None:
    assert {"throughput", "overhead_ratio", "peak_live"} < {q.name for q in MIX}


def test_where_the_first_cannot_be_told_the_advice_says_who_is_told_from_the_baseline() -> None:
    even = {**SPEED, "malloc@mimalloc": 1.9, "malloc@jemalloc": 1.0}
    advice = analyse(Evidence(heap_run(Heap(speed=even, threads=[1])))).advice
    assert advice.startswith("Best of 4 cells: cannot tell yet in 4. Better than malloc@glibc: ")
    told = advice.partition("glibc: ")[2]
    assert set(told.rstrip(".").split(", ")) == {
        "malloc@mimalloc in 4",
        "malloc@heapwise in 4",
        "malloc@tcmalloc in 4",
    }
    assert told.index("tcmalloc") > max(told.index("mimalloc"), told.index("heapwise"))


def test_the_advice_names_nobody_if_nobody_is_told_from_the_baseline() -> None:
    equal = Heap(speed=dict.fromkeys(SPEED, 1.0), threads=[1], noise=0.02)
    advice = analyse(Evidence(heap_run(equal))).advice
    assert "cannot tell yet in" in advice
    assert "Better than" not in advice
