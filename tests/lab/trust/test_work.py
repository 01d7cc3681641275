"""V3 and V8: calls of malloc and the work of each subject."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from planted import compare, counted_under, verdict_of
from synthetic import Script, compare_run

from heapwise.model import (
    Process,
)


def test_the_right_output_is_the_baselines_and_not_that_of_most() -> None:
    def others(process: Process) -> Process:
        if process.subject.startswith("glibc"):
            return process
        return replace(process, facts=structs.replace(process.facts, output_hash="xxh3:2"))

    found = verdict_of(compare_run(Script(edit=others)), "V8")
    assert found.figures["different"] == ["jemalloc", "mimalloc", "scudo"]


@pytest.mark.parametrize(("again", "other", "said"), [
    (20_000_000, 20_190_000, ""), (20_000_000, 20_210_000, "jemalloc 20,210,000"),
    (20_400_000, 20_790_000, ""), (20_400_000, 20_810_000, "jemalloc 20,810,000"),
])
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
    first = replace(stored.processes[0], facts=structs.replace(
        stored.processes[0].facts, counted_wall_s=400.0, plain_wall_s=400.0))
    found = verdict_of(replace(stored, processes=[first, *stored.processes[1:]]), "V3")
    assert found.verdict == "pass"
    assert found.figures["seconds"] < 3
