"""V1 and V2: which library malloc came from, in each process."""

from __future__ import annotations

from dataclasses import replace

from planted import (
    child_with_its_own,
    compare,
    in_the_wrong_library,
    losing,
    verdict_of,
    with_children,
    with_facts,
)
from synthetic import Script, compare_run

from heapwise.model import Check


def test_a_program_that_starts_more_or_fewer_processes_each_time_is_not_a_fault() -> None:
    found = verdict_of(compare_run(with_children(lambda p: 3 + p.number % 3)), "V1")
    assert found.verdict == "pass", found.detail
    always = verdict_of(
        compare_run(with_children(lambda p: 1 if p.subject == "scudo" else 3 + p.number % 3)), "V1"
    )
    assert always.verdict == "fail"
    assert "/usr/bin/child 1 instead of 3 times under scudo" in always.detail


def test_a_process_that_lost_the_library_is_named_with_the_reason() -> None:
    found = verdict_of(with_facts(compare(), losing), "V2")
    assert found.detail.startswith("Partial: ")
    assert "/usr/bin/job (LD_PRELOAD was taken out of its environment; " in found.detail
    assert "/opt/static (static, setuid" in found.detail


def test_a_forced_program_that_starts_others_is_partial_for_both_reasons() -> None:
    forced = Check("V2", "", "warn", "Partial: it has its own allocator inside.")
    stored = with_facts(compare(), losing)
    found = verdict_of(replace(stored, run=replace(stored.run, preflight=[forced])), "V2")
    assert "its own allocator inside" in found.detail
    assert "/usr/bin/job" in found.detail


def test_identity_claims_no_more_than_the_processes_that_wrote_a_line() -> None:
    check = verdict_of(compare_run(), "V1")
    assert "first processes, and as expected" in check.detail
    more = replace(
        compare_run(),
        processes=[
            replace(p, identity=[*p.identity, *p.identity]) for p in compare_run().processes
        ],
    )
    assert " processes that they started, and" in verdict_of(more, "V1").detail


def test_a_child_with_its_own_allocator_does_not_excuse_another_library() -> None:
    both = compare_run(Script(edit=lambda p: child_with_its_own(in_the_wrong_library(p))))
    found = verdict_of(both, "V1")
    assert found.verdict == "fail"
    assert "libc.so.6" in found.detail
