"""What counts and what does not: the rules, and that nothing is removed for its own value."""

from __future__ import annotations

from dataclasses import replace

from synthetic import Script, compare_run, pool_run

from heapwise.model import Process
from heapwise.trust.kept import sieve
from heapwise.trust.series import Cell, pair, tabulate
from heapwise.trust.v12_frequency import check as frequency
from heapwise.trust.v13_neighbour import check as neighbour


def every_tenth(name: str, value: int) -> Script:
    def edit(process: Process) -> Process:
        if process.number % 10:
            return process
        return replace(process, facts={**process.facts, name: value})

    return Script(edit=edit)


def test_a_moved_clock_costs_the_sample_and_is_counted() -> None:
    stored = compare_run(every_tenth("spin_after_ns", 1_100_000))
    sifted = sieve(stored)
    assert 0 < sifted.removed["V12"] == sifted.struck["V12"] < 0.25 * sifted.of
    assert len(sifted.kept) == sifted.of - sifted.removed["V12"]
    found = frequency(stored)
    assert found.verdict == "pass"
    assert f"{sifted.removed['V12']} samples" in found.detail
    assert "discarded" in found.detail


def test_stolen_time_costs_the_sample_and_is_counted() -> None:
    stored = compare_run(every_tenth("steal_ticks", 30))
    assert sieve(stored).removed["V13"] > 0
    assert "discarded" in neighbour(stored).detail


def test_what_was_discarded_is_said_beside_another_trouble() -> None:
    def edit(process: Process) -> Process:
        stolen = 0 if process.number % 10 else 30
        return replace(process, facts={
            **process.facts, "steal_ticks": stolen, "psi_cpu_us": 2_000_000})

    found = neighbour(compare_run(Script(edit=edit)))
    assert found.verdict == "warn"
    assert "waited for a processor" in found.detail
    assert "discarded" in found.detail


def test_a_rule_that_would_remove_too_many_removes_none() -> None:
    stored = compare_run(Script(edit=lambda p: replace(
        p, facts={**p.facts, "spin_after_ns": 1_100_000})))
    sifted = sieve(stored)
    assert sifted.struck["V12"] == sifted.of == len(sifted.kept)
    assert "none was discarded" in frequency(stored).detail


def test_an_outlier_is_kept() -> None:
    stored = compare_run(Script(bend=lambda s, r, v: v * 50 if (s, r) == ("glibc", 3) else v))
    values = tabulate(stored)[Cell("compare", "{}", "wall_time")]["glibc"].values
    assert max(values) > 50
    assert len(values) == 14


def test_warm_up_failed_and_unfinished_processes_do_not_count() -> None:
    stored = compare_run()
    orphan = replace(stored.samples[-1], process=9999)
    stored = replace(stored, samples=[*stored.samples, orphan])
    kept = sieve(stored).kept
    assert orphan not in kept
    assert not any(s.warm_up for s in kept)
    failed = replace(stored, processes=[replace(p, status="crashed") for p in stored.processes])
    assert sieve(failed).kept == []


def test_pairs_are_made_by_round_from_six_rounds_on() -> None:
    many, few = tabulate(pool_run(rounds=6)), tabulate(pool_run(rounds=3))
    cell = next(c for c in many if c.quantity == "free")
    by_round = pair(many[cell]["mutex"], many[cell]["malloc@glibc"])
    assert (by_round.unit, len(by_round.above), by_round.note) == ("round", 6, "")
    by_repeat = pair(few[cell]["mutex"], few[cell]["malloc@glibc"])
    assert (by_repeat.unit, len(by_repeat.above)) == ("repeat", 27)
    assert "not independent" in by_repeat.note


def test_the_figure_of_a_round_is_the_median_of_its_repeats() -> None:
    stored = pool_run(rounds=1)
    cell = Cell("pool/bulk", '{"block_size":64}', "free")
    series = tabulate(stored)[cell]["mutex"]
    assert len(series.values) == 9
    assert series.rounds == {0: sorted(series.values)[4]}
