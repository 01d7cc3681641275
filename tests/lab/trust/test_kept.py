"""What counts and what does not: the rules, and that nothing is removed for its own value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from synthetic import Script, compare_run, pool_run

from heapwise.evidence import Evidence
from heapwise.evidence.series import Cell, pair
from heapwise.model import Process, Sample
from heapwise.store import StoredRun
from heapwise.trust.v12_frequency import check as frequency
from heapwise.trust.v13_neighbour import check as neighbour
from heapwise.trust.v26_shared_core import check as shared_core


def every_tenth(name: str, value: int) -> Script:
    def edit(process: Process) -> Process:
        if process.number % 10:
            return process
        return replace(process, facts={**process.facts, name: value})

    return Script(edit=edit)


def test_a_moved_clock_costs_the_sample_and_is_counted() -> None:
    stored = compare_run(every_tenth("spin_after_ns", 1_100_000))
    sifted = Evidence(stored).sieve
    assert 0 < sifted.removed["V12"] == sifted.struck["V12"] < 0.25 * sifted.of
    assert len(sifted.kept) == sifted.of - sifted.removed["V12"]
    found = frequency(Evidence(stored))
    assert found.verdict == "pass"
    assert f"{sifted.removed['V12']} samples" in found.detail
    assert "discarded" in found.detail


def test_stolen_time_costs_the_sample_and_is_counted() -> None:
    stored = compare_run(every_tenth("steal_ticks", 30))
    assert Evidence(stored).sieve.removed["V13"] > 0
    assert "discarded" in neighbour(Evidence(stored)).detail


def test_what_was_discarded_is_said_beside_another_trouble() -> None:
    def edit(process: Process) -> Process:
        stolen = 0 if process.number % 10 else 30
        return replace(process, facts={
            **process.facts, "steal_ticks": stolen, "psi_cpu_us": 2_000_000})

    found = neighbour(Evidence(compare_run(Script(edit=edit))))
    assert found.verdict == "warn"
    assert "waited for a processor" in found.detail
    assert "discarded" in found.detail


def test_a_rule_that_would_remove_too_many_removes_none() -> None:
    stored = compare_run(Script(edit=lambda p: replace(
        p, facts={**p.facts, "spin_after_ns": 1_100_000})))
    sifted = Evidence(stored).sieve
    assert sifted.struck["V12"] == sifted.of == len(sifted.kept)
    assert "none was discarded" in frequency(Evidence(stored)).detail


def with_crowds(stored: StoredRun, crowded: Callable[[Sample], bool]) -> StoredRun:
    """Samples beside which somebody shared the core."""
    return replace(stored, samples=[
        replace(s, facts={**s.facts, "breadth_after_ns": 52_000}) if crowded(s) else s
        for s in stored.samples])


def test_a_shared_core_costs_the_sample_even_where_most_are_shared() -> None:
    stored = with_crowds(pool_run(rounds=6), lambda s: s.repeat % 3 > 0)
    sifted = Evidence(stored).sieve
    assert sifted.removed["V26"] == sifted.struck["V26"] > 0.5 * sifted.of
    assert not any(s.facts["breadth_after_ns"] > 50_000 for s in sifted.kept)
    found = shared_core(Evidence(stored))
    assert found.verdict == "pass"
    assert f"{sifted.removed['V26']} of them discarded" in found.detail


def test_a_cell_stays_as_it_is_where_one_subject_would_have_too_little_left() -> None:
    stored = with_crowds(pool_run(rounds=6), lambda s: s.subject == "mutex" and s.round < 4)
    sifted = Evidence(stored).sieve
    assert sifted.struck["V26"] > 0 == sifted.removed["V26"]
    assert sifted.spared["V26"] == len({str(s.parameters) for s in stored.samples})
    found = shared_core(Evidence(stored))
    assert found.verdict == "warn"
    assert "their intervals carry it" in found.detail


def test_without_chains_nothing_is_called_crowded() -> None:
    bare = replace(pool_run(), samples=[
        replace(s, facts={"elapsed_ns": 7_000_000}) for s in pool_run().samples])
    assert Evidence(bare).sieve.struck["V26"] == 0
    assert shared_core(Evidence(bare)).verdict == "unavailable"


def test_an_outlier_is_kept() -> None:
    stored = compare_run(Script(bend=lambda s, r, v: v * 50 if (s, r) == ("glibc", 3) else v))
    values = Evidence(stored).table[Cell("compare", "{}", "wall_time")]["glibc"].values
    assert max(values) > 50
    assert len(values) == 14


def test_warm_up_failed_and_unfinished_processes_do_not_count() -> None:
    stored = compare_run()
    orphan = replace(stored.samples[-1], process=9999)
    stored = replace(stored, samples=[*stored.samples, orphan])
    kept = Evidence(stored).sieve.kept
    assert orphan not in kept
    assert not any(s.warm_up for s in kept)
    failed = replace(stored, processes=[replace(p, status="crashed") for p in stored.processes])
    assert Evidence(failed).sieve.kept == []


def test_pairs_are_made_by_round_from_six_rounds_on() -> None:
    many, few = (Evidence(pool_run(rounds=n)).table for n in (6, 3))
    cell = next(c for c in many if c.quantity == "free")
    by_round = pair(many[cell]["mutex"], many[cell]["malloc@glibc"])
    assert (by_round.unit, len(by_round.above), by_round.note) == ("round", 6, "")
    by_repeat = pair(few[cell]["mutex"], few[cell]["malloc@glibc"])
    assert (by_repeat.unit, len(by_repeat.above)) == ("repeat", 27)
    assert "not independent" in by_repeat.note


def test_the_figure_of_a_round_is_the_median_of_its_repeats() -> None:
    stored = pool_run(rounds=1)
    cell = Cell("pool/bulk", '{"block_size":64}', "free")
    series = Evidence(stored).table[cell]["mutex"]
    assert len(series.values) == 9
    assert series.rounds == {0: sorted(series.values)[4]}
