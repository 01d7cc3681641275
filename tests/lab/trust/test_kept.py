"""What counts and what does not: the rules, and that nothing is removed for its own value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from planted import verdict_of, with_facts
from synthetic import Script, changed, compare_run, pool_run

from heapwise.evidence import Evidence, comparisons_of
from heapwise.model import Cell, Process, Sample, SampleFacts, Settings
from heapwise.store import StoredRun
from heapwise.trust.surroundings.v12_frequency import check as frequency
from heapwise.trust.surroundings.v13_neighbour import check as neighbour
from heapwise.trust.surroundings.v26_shared_core import check as shared_core


def every_tenth(name: str, value: int) -> Script:
    def edit(process: Process) -> Process:
        if process.number % 10:
            return process
        return changed(process, **{name: value})

    return Script(edit=edit)


def test_a_moved_clock_costs_the_sample_and_is_counted() -> None:
    stored = compare_run(every_tenth("spin_after_ns", 1_100_000))
    filtered = Evidence(stored).filtered
    assert 0 < filtered.removed["V12"] == filtered.struck["V12"] < 0.25 * filtered.total
    assert len(filtered.kept) == filtered.total - filtered.removed["V12"]
    found = frequency(Evidence(stored))
    assert found.verdict == "pass"
    assert f"{filtered.removed['V12']} samples" in found.detail
    assert "discarded" in found.detail


def test_stolen_time_costs_the_sample_and_is_counted() -> None:
    stored = compare_run(every_tenth("steal_ticks", 30))
    assert Evidence(stored).filtered.removed["V13"] > 0
    assert "discarded" in neighbour(Evidence(stored)).detail


def test_discarded_samples_are_reported_beside_another_trouble() -> None:
    def edit(process: Process) -> Process:
        stolen = 0 if process.number % 10 else 30
        return changed(process, steal_ticks=stolen, psi_cpu_us=2_000_000)

    found = neighbour(Evidence(compare_run(Script(edit=edit))))
    assert found.verdict == "warn"
    assert "waited for a processor" in found.detail
    assert "discarded" in found.detail


def test_a_rule_that_would_remove_too_many_removes_none() -> None:
    stored = compare_run(Script(edit=lambda p: changed(p, spin_after_ns=1_100_000)))
    filtered = Evidence(stored).filtered
    assert filtered.struck["V12"] == filtered.total == len(filtered.kept)
    assert "none was discarded" in frequency(Evidence(stored)).detail


@pytest.mark.parametrize(
    ("rule", "field", "value"), [("V12", "spin_after_ns", 1_100_000), ("V13", "steal_ticks", 30)]
)
def test_no_row_loses_its_last_sample(rule: str, field: str, value: int) -> None:
    """A table with a hole says less than a value that is known to be disturbed."""
    stored = compare_run(
        Script(edit=lambda p: changed(p, **{field: value}) if p.subject == "mimalloc" else p)
    )
    filtered = Evidence(stored).filtered
    assert 0 < filtered.struck[rule] <= 0.25 * filtered.total
    assert filtered.removed[rule] == 0 < filtered.spared[rule]
    found = (frequency if rule == "V12" else neighbour)(Evidence(stored))
    assert found.verdict == "warn"
    assert "none would have been left" in found.detail


def test_two_rules_together_leave_each_row_a_sample() -> None:
    def edit(process: Process) -> Process:
        if process.subject != "mimalloc":
            return process
        hit = {"steal_ticks": 30} if process.round % 2 else {"spin_after_ns": 1_100_000}
        return changed(process, **hit)

    filtered = Evidence(compare_run(Script(edit=edit))).filtered
    assert filtered.struck["V12"] > 0 < filtered.struck["V13"]
    assert any(sample.subject == "mimalloc" for sample in filtered.kept)


def with_crowds(stored: StoredRun, crowded: Callable[[Sample], bool]) -> StoredRun:
    """Samples before which somebody shared the core."""
    return replace(
        stored,
        samples=[changed(s, breadth_before_ns=52_000) if crowded(s) else s for s in stored.samples],
    )


def test_a_shared_core_costs_the_sample_even_where_most_are_shared() -> None:
    stored = with_crowds(pool_run(rounds=6), lambda s: s.repeat % 3 > 0)
    filtered = Evidence(stored).filtered
    assert filtered.removed["V26"] == filtered.struck["V26"] > 0.5 * filtered.total
    assert not any(s.facts.breadth_before_ns > 50_000 for s in filtered.kept)
    found = shared_core(Evidence(stored))
    assert found.verdict == "pass"
    assert f"{filtered.removed['V26']} of them discarded" in found.detail


def test_a_cell_stays_as_it_is_where_one_subject_would_have_too_little_left() -> None:
    stored = with_crowds(pool_run(rounds=6), lambda s: s.subject == "mutex" and s.round < 4)
    filtered = Evidence(stored).filtered
    assert filtered.struck["V26"] > 0 == filtered.removed["V26"]
    assert filtered.spared["V26"] == len({str(s.parameters) for s in stored.samples})
    found = shared_core(Evidence(stored))
    assert found.verdict == "warn"
    assert "their intervals carry it" in found.detail


def test_one_lucky_look_does_not_make_all_others_crowded() -> None:
    stored = pool_run(rounds=6)
    first = changed(stored.samples[5], breadth_before_ns=36_000)
    lucky = replace(stored, samples=[*stored.samples[:5], first, *stored.samples[6:]])
    assert Evidence(lucky).filtered.struck["V26"] == 0


def test_each_processor_has_a_reference_of_its_own() -> None:
    """A slow core beside a fast one is not always crowded."""
    stored = pool_run(rounds=6)
    two_kinds = replace(
        stored,
        samples=[
            changed(s, cpus=[1], breadth_before_ns=60_000, breadth_after_ns=60_100)
            if s.process % 2
            else s
            for s in stored.samples
        ],
    )
    assert Evidence(two_kinds).filtered.struck["V26"] == 0


def test_work_of_a_subject_in_the_background_stays_its_own_cost() -> None:
    """Its thread that gives memory back still runs at the look after the sample."""
    stored = pool_run(rounds=6)
    busy = replace(
        stored,
        samples=[
            changed(s, breadth_after_ns=52_000)
            if s.subject == "malloc@mimalloc" and s.repeat % 2
            else s
            for s in stored.samples
        ],
    )
    assert Evidence(busy).filtered.struck["V26"] == 0
    assert shared_core(Evidence(busy)).figures["busy_afterwards"] == ["malloc@mimalloc"]
    everybody = replace(
        stored,
        samples=[
            changed(s, breadth_after_ns=52_000) if s.repeat % 2 else s for s in stored.samples
        ],
    )
    assert Evidence(everybody).filtered.struck["V26"] > 0


def test_without_chains_nothing_is_called_crowded() -> None:
    bare = replace(
        pool_run(),
        samples=[replace(s, facts=SampleFacts(elapsed_ns=7_000_000)) for s in pool_run().samples],
    )
    assert Evidence(bare).filtered.struck["V26"] == 0
    assert shared_core(Evidence(bare)).verdict == "unavailable"


def test_an_outlier_is_kept() -> None:
    stored = compare_run(Script(bend=lambda s, r, v: v * 50 if (s, r) == ("glibc", 3) else v))
    values = Evidence(stored).table[Cell("compare", Settings({}), "wall_time")]["glibc"].values
    assert max(values) > 50
    assert len(values) == 14


def test_warm_up_failed_and_unfinished_processes_do_not_count() -> None:
    stored = compare_run()
    orphan = replace(stored.samples[-1], process=9999)
    stored = replace(stored, samples=[*stored.samples, orphan])
    kept = Evidence(stored).filtered.kept
    assert orphan not in kept
    assert not any(s.warm_up for s in kept)
    failed = replace(stored, processes=[replace(p, status="crashed") for p in stored.processes])
    assert Evidence(failed).filtered.kept == []


@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 6, 9])
def test_pairs_are_rounds_however_few_there_are(rounds: int) -> None:
    evidence = Evidence(pool_run(rounds=rounds))
    cell = next(c for c in evidence.table if c.quantity == "free")
    pairs = comparisons_of(evidence).pairs((cell, "mutex"), (cell, "malloc@glibc"))
    assert pairs.rounds == list(range(rounds))
    found, note = comparisons_of(evidence).ratio((cell, "mutex"), (cell, "malloc@glibc"))
    assert found is not None
    assert found.n == rounds
    assert (found.low is None) == bool(note) == (rounds < 3)


def test_a_lost_round_is_a_pair_less_and_never_a_change_to_repeats() -> None:
    whole = pool_run(rounds=6)
    lost = replace(
        whole, samples=[s for s in whole.samples if (s.subject, s.round) != ("mutex", 2)]
    )
    evidence = Evidence(lost)
    cell = next(c for c in evidence.table if c.quantity == "free")
    assert comparisons_of(evidence).pairs((cell, "mutex"), (cell, "malloc@glibc")).rounds == [
        0,
        1,
        3,
        4,
        5,
    ]


def test_the_baseline_is_the_mean_of_its_two_labels() -> None:
    evidence = Evidence(compare_run())
    cell = next(c for c in evidence.table if c.quantity == "wall_time")
    row = evidence.table[cell]
    pairs = comparisons_of(evidence).pairs((cell, "jemalloc"), (cell, "glibc"))
    first, second = (row[name].rounds[pairs.rounds[0]] for name in ("glibc", "glibc-control"))
    assert pairs.below[0] == pytest.approx((first * second) ** 0.5)
    alone = comparisons_of(evidence).pairs((cell, "glibc-control"), (cell, "glibc"))
    assert alone.below[0] == first


def test_a_lost_round_of_the_baseline_costs_nobody_a_pair() -> None:
    whole = compare_run()
    lost = replace(
        whole, samples=[s for s in whole.samples if (s.subject, s.round) != ("glibc", 2)]
    )
    evidence = Evidence(lost)
    cell = next(c for c in evidence.table if c.quantity == "wall_time")
    assert 2 in comparisons_of(evidence).pairs((cell, "jemalloc"), (cell, "glibc")).rounds
    assert 2 not in comparisons_of(evidence).control_pairs[cell].rounds


def test_the_figure_of_a_round_is_the_median_of_its_repeats() -> None:
    stored = pool_run(rounds=1)
    cell = Cell("pool/bulk", Settings({"block_size": 64}), "free")
    series = Evidence(stored).table[cell]["mutex"]
    assert len(series.values) == 9
    assert series.rounds == {0: sorted(series.values)[4]}


@pytest.mark.parametrize(("stolen", "verdict"), [({3}, "pass"), ({1, 3, 5}, "warn")])
def test_a_rule_that_removes_many_samples_warns(stolen: set[int], verdict: str) -> None:
    """Of 14 rounds of 5 subjects: a fourteenth, and a fifth."""
    stored = with_facts(compare_run(), lambda p: {"steal_ticks": 50 if p.round in stolen else 0})
    found = verdict_of(stored, "V13")
    assert found.verdict == verdict
    assert found.figures["discarded"] == 5 * len(stolen)


def test_rules_that_remove_too_many_together_remove_none() -> None:
    def edit(process: Process) -> Process:
        if process.number % 6 == 0:
            return changed(process, spin_after_ns=1_100_000)
        return changed(process, steal_ticks=30) if process.number % 6 == 1 else process

    stored = compare_run(Script(edit=edit))
    filtered = Evidence(stored).filtered
    assert all(0 < filtered.struck[name] < 0.25 * filtered.total for name in ("V12", "V13"))
    assert len(filtered.kept) == filtered.total
    for check in (frequency, neighbour):
        found = check(Evidence(stored))
        assert found.verdict == "warn"
        assert "together with those of other rules too many" in found.detail
