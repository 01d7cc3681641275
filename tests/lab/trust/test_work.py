"""V3 and V8: calls of malloc and the work of each subject."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from planted import (
    compare,
    counted_under,
    few_calls,
    verdict_of,
    with_calls,
    with_facts,
    with_plan,
)
from synthetic import MIB, Script, compare_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence, calls_of
from heapwise.model import (
    Calls,
    PlanOptions,
    Process,
)
from heapwise.store import StoredRun


def test_the_right_output_is_the_baselines_and_not_that_of_most() -> None:
    def others(process: Process) -> Process:
        if process.subject.startswith("glibc"):
            return process
        return replace(process, facts=structs.replace(process.facts, output_hash="xxh3:2"))

    found = verdict_of(compare_run(Script(edit=others)), "V8")
    assert found.figures["different"] == ["jemalloc", "mimalloc", "scudo"]


@pytest.mark.parametrize(
    ("again", "other", "said"),
    [
        (20_000_000, 20_190_000, ""),
        (20_000_000, 20_210_000, "jemalloc 20,210,000"),
        (20_400_000, 20_790_000, ""),
        (20_400_000, 20_810_000, "jemalloc 20,810,000"),
    ],
)
def test_counts_may_differ_as_much_as_those_of_the_same_thing_twice(
    again: int, other: int, said: str
) -> None:
    stored = counted_under(counted_under(compare(), "glibc-control", again), "jemalloc", other)
    found = verdict_of(stored, "V8")
    assert found.verdict == ("warn" if said else "pass")
    assert said in found.detail


def test_a_counting_process_that_crashed_counts_nothing() -> None:
    """It ended early, so its count is too small; so is a dose that is computed from it."""
    stored = compare()
    failed = replace(stored.processes[0], status="discarded", reason="crashed (SIGSEGV)")
    found = verdict_of(replace(stored, processes=[failed, *stored.processes[1:]]), "V3")
    assert found.verdict == "unavailable"
    assert "crashed (SIGSEGV)" in found.detail


def test_the_dose_is_of_the_processes_that_were_measured() -> None:
    """The first process of a run is cold, and the counter slows its process down."""
    stored = compare()
    first = replace(
        stored.processes[0],
        facts=structs.replace(stored.processes[0].facts, counted_wall_s=400.0, plain_wall_s=400.0),
    )
    found = verdict_of(replace(stored, processes=[first, *stored.processes[1:]]), "V3")
    assert found.verdict == "pass"
    assert found.figures["seconds"] < 3


def test_a_model_does_not_deny_what_was_measured() -> None:
    """mimalloc is 10 % faster in each round, however few calls were counted."""
    evidence = Evidence(few_calls(compare()))
    rows = {row.subject: row for row in analyse(evidence).rows if row.quantity == "wall_time"}
    assert rows["mimalloc"].verdict == "better"
    assert rows["scudo"].verdict == "worse"
    assert "Fastest: mimalloc" in analyse(evidence).advice
    found = verdict_of(few_calls(compare()), "V3")
    assert found.verdict == "warn"
    assert "What was measured stands" in found.detail


def test_few_calls_explain_that_nothing_was_found() -> None:
    alike = dict.fromkeys(Script().time, 1.0)
    stored = few_calls(compare_run(Script(time=alike)))
    assert "the program hardly allocates" in analyse(Evidence(stored)).advice
    assert "too little for the allocator" in verdict_of(stored, "V3").detail


def test_a_few_large_blocks_are_not_few() -> None:
    """Twelve blocks of 48 MiB, each of their pages written once."""
    counted = with_calls(compare(), Calls(malloc=13, free=13), bytes_requested=12 * 48 * MIB)
    stored = with_facts(
        counted, lambda p: {"minor_faults": 147_528 if p.subject == "glibc" else 12_389}
    )
    found = verdict_of(stored, "V3")
    assert found.verdict == "pass"
    assert found.figures["share_of_pages"] > 0.02


@pytest.mark.parametrize("load", [1, 20])
def test_a_busy_machine_does_not_make_the_share_of_malloc_smaller(load: int) -> None:
    """Waiting for a processor is in the wall time, and not in the processor time."""
    slow = with_facts(
        with_calls(compare(), Calls(malloc=2_000_000, free=2_000_000)),
        lambda p: {"wall_s": (p.facts.wall_s or 0) * load},
    )
    found = verdict_of(slow, "V3")
    assert found.verdict == "pass"
    assert found.figures["share_of_time"] == pytest.approx(0.017, abs=0.002)


def test_the_dose_of_each_setting_is_its_own() -> None:
    """The calls of one setting over the time of another would be a share of nothing."""
    stored = compare()
    small, large = ({"n": value} for value in (1, 1000))
    both = [replace(p, parameters=cell) for p in few_calls(stored).processes for cell in (small,)]
    both += [replace(p, parameters=large, number=p.number + 1000) for p in stored.processes]
    demands = calls_of(Evidence(replace(stored, processes=both))).demands
    assert [demand.is_too_small for demand in demands.values()] == [True, False]


def test_blocks_that_the_counter_did_not_see_are_not_too_few() -> None:
    """A library that is opened with RTLD_DEEPBIND allocates by the C library, and its blocks are
    freed by all."""
    found = verdict_of(with_calls(compare(), Calls(malloc=8, free=200_001)), "V3")
    assert found.verdict == "unavailable"
    assert "200,001 blocks were freed and only 8 allocations were counted" in found.detail


def ended_with(codes: dict[str, int]) -> StoredRun:
    """Each of them is allowed."""
    return with_plan(
        with_facts(compare(), lambda p: {"exit_code": codes.get(p.subject, 0)}),
        options=PlanOptions(any_exit=True),
    )


def test_a_program_that_fails_is_not_faster() -> None:
    stored = ended_with({"mimalloc": 3})
    found = verdict_of(stored, "V8")
    assert found.verdict == "warn"
    assert "mimalloc 3 (14 of 14)" in found.detail
    assert "glibc 0 (14 of 14)" in found.detail
    result = analyse(Evidence(stored))
    assert {row.verdict for row in result.rows if row.subject == "mimalloc"} == {"cannot tell"}
    assert any("ended with 3, and glibc with 0" in row.note for row in result.rows)
    assert "Fastest: jemalloc" in result.advice
    assert "mimalloc ended with 3" in result.advice


def test_programs_that_all_end_with_an_allowed_code_agree() -> None:
    stored = ended_with(dict.fromkeys(Script().time, 1))
    assert verdict_of(stored, "V8").verdict == "pass"
    assert "Fastest: mimalloc" in analyse(Evidence(stored)).advice


def test_a_code_now_and_then_is_reported_and_compared() -> None:
    stored = with_plan(
        with_facts(
            compare(), lambda p: {"exit_code": int(p.subject == "mimalloc" and p.round == 3)}
        ),
        options=PlanOptions(ignored_exits=[1]),
    )
    found = verdict_of(stored, "V8")
    assert found.verdict == "warn"
    assert "mimalloc 0 (13 of 14) and 1 (1 of 14)" in found.detail
    assert "Fastest: mimalloc" in analyse(Evidence(stored)).advice


def alike(again: int, other: int = 0) -> StoredRun:
    """All are equally fast. again: calls that were counted of the baseline's second label."""
    stored = compare_run(Script(time=dict.fromkeys(Script().time, 1.0)))
    found = counted_under(stored, "glibc-control", again)
    return counted_under(found, "jemalloc", other) if other else found


def test_equal_times_of_a_program_with_a_timer_are_not_equal_speeds() -> None:
    """It made 43 % more calls in the same time, under the same allocator."""
    stored = alike(28_600_000)
    found = verdict_of(stored, "V27")
    assert found.verdict == "warn"
    assert "may run for a fixed time" in found.detail
    assert "two counts of the calls of glibc differ by 43.0 %" in found.detail
    rows = [row for row in analyse(Evidence(stored)).rows if row.quantity == "wall_time"]
    assert {row.verdict for row in rows if not row.baseline} == {"cannot tell"}
    assert any("two counts" in row.note for row in rows)


def test_equal_times_and_equal_counts_show_that_nothing_differs() -> None:
    stored = alike(20_100_000)
    assert verdict_of(stored, "V8").verdict == "pass"
    assert verdict_of(stored, "V27").verdict == "pass"
    rows = {
        row.subject: row for row in analyse(Evidence(stored)).rows if row.quantity == "wall_time"
    }
    assert rows["jemalloc"].verdict == "no difference"


def test_a_baseline_that_fails_once_is_counted_and_its_rows_have_no_verdict() -> None:
    def once(process: Process) -> Process:
        fails = (process.subject, process.round, process.warm_up) == ("glibc", 4, False)
        return replace(process, status="failed", reason="exit code 7") if fails else process

    stored = compare_run(Script(edit=once))
    found = verdict_of(stored, "V8")
    assert found.verdict == "warn"
    assert "glibc failed" in found.detail
    result = analyse(Evidence(stored))
    assert {row.verdict for row in result.rows} <= {"baseline", "cannot tell"}
    assert "glibc failed 1 of 14: exit code 7" in result.advice
