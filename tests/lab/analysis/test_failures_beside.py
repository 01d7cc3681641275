"""Subjects that fail side by side, although they did their work by themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from synthetic import Script, compare_run
from synthetic_beside import with_rounds_beside

from heapwise.analysis import analyse
from heapwise.cli.frame.tell.ending import exit_code
from heapwise.errors import Exit
from heapwise.evidence import Evidence
from heapwise.model import (
    FAILED_BESIDE,
    SIDE_BY_SIDE,
    Check,
    GateOptions,
    Identity,
    Library,
    Process,
    Result,
)
from heapwise.store import StoredRun

LABELS = ("glibc", "glibc-control", "mimalloc", "jemalloc")
CRASH = "crashed (SIGSEGV)"


def beside(fails: Callable[[Process, int], bool], why: str = CRASH, rounds: int = 20) -> StoredRun:
    """fails: whether a process of the group of this number, from 0, did not do its work."""
    alike = dict.fromkeys(LABELS, 1.0)
    stored = with_rounds_beside(
        compare_run(Script(time=alike, memory=alike, noise=0.2, rounds=3)),
        {"glibc-control": 1.0, "mimalloc": 1.0, "jemalloc": 0.9},
        rounds=rounds,
    )
    first = min(p.round for p in stored.processes if p.facts.beside is not None)
    processes = [
        replace(p, status="discarded", reason=f"{FAILED_BESIDE}{why}")
        if p.facts.beside is not None and fails(p, p.round - first)
        else p
        for p in stored.processes
    ]
    lost = {p.number for p in processes if p.status == "discarded"}
    samples = [s for s in stored.samples if s.process not in lost]
    return replace(stored, processes=processes, samples=samples)


def statuses(result: Result, subject: str) -> set[tuple[str, str | None]]:
    return {(row.status, row.verdict) for row in result.rows if row.subject == subject}


def check(result: Result, id: str) -> Check:
    return next(check for check in result.trust.checks if check.id == id)


def test_a_subject_that_crashes_in_half_of_its_groups_is_not_the_fastest() -> None:
    stored = beside(lambda p, group: p.subject == "jemalloc" and group % 2 == 1)
    result = analyse(Evidence(stored))
    assert statuses(result, "jemalloc") == {("crashed", "cannot tell")}
    [row] = [r for r in result.rows if (r.subject, r.quantity) == ("jemalloc", SIDE_BY_SIDE)]
    assert f"failed in 10 of 20 groups side by side: {CRASH}" in row.note
    assert "Fastest: jemalloc" not in result.advice
    assert check(result, "V8").verdict == "warn"
    assert "jemalloc crashed side by side (10 times)" in check(result, "V8").detail
    assert exit_code(result, stored.processes) == Exit.PROGRAM_FAILED
    assert statuses(result, "mimalloc") == statuses(analyse(Evidence(beside(none))), "mimalloc")


def none(process: Process, group: int) -> bool:
    return False


def test_groups_in_which_all_do_their_work_are_fine() -> None:
    stored = beside(none)
    result = analyse(Evidence(stored))
    assert "Fastest: jemalloc" in result.advice
    assert exit_code(result, stored.processes) == Exit.DONE


@pytest.mark.parametrize(
    "fails",
    [
        lambda p, group: group == 19,
        lambda p, group: p.subject != LABELS[group % len(LABELS)],
    ],
    ids=["none of the last group works", "one of each group has the port"],
)
def test_a_program_that_fails_only_beside_itself_did_its_work(
    fails: Callable[[Process, int], bool],
) -> None:
    stored = beside(fails, "exit code 21 instead of 0")
    result = analyse(Evidence(stored))
    assert {row.status for row in result.rows} == {"ok"}
    assert exit_code(result, stored.processes) == Exit.DONE


def test_low_overlap_is_not_a_failure() -> None:
    stored = beside(lambda p, group: p.subject == "jemalloc" and group % 2 == 1)
    reason = "the others ran beside it for 70% of its time"
    processes = [
        replace(p, reason=reason) if p.status == "discarded" else p for p in stored.processes
    ]
    result = analyse(Evidence(replace(stored, processes=processes)))
    assert {status for status, _ in statuses(result, "jemalloc")} == {"ok"}


def test_another_library_beside_others_is_the_wrong_one() -> None:
    stored = beside(none)
    other = [Identity(1, "/usr/bin/program", Library("/usr/lib/other.so", "ff"))]
    processes = [
        replace(p, identity=other) if p.subject == "jemalloc" and p.facts.beside is not None else p
        for p in stored.processes
    ]
    result = analyse(Evidence(replace(stored, processes=processes)))
    assert check(result, "V1").verdict == "fail"
    assert "in 20 of 32 processes: jemalloc used /usr/lib/other.so" in check(result, "V1").detail


def test_a_gate_does_not_judge_the_groups_that_are_left() -> None:
    def gate(stored: StoredRun) -> Result:
        plan = stored.run.plan
        options = replace(plan.options, gate=GateOptions({"time": 0.2}), together_from=3)
        run = replace(stored.run, plan=replace(plan, options=options))
        return analyse(Evidence(replace(stored, run=run)))

    sound = gate(beside(none, rounds=46))
    left = gate(beside(lambda p, group: p.subject == "mimalloc" and group % 2 == 1, rounds=92))
    assert sound.gate is not None
    assert left.gate is not None
    assert sound.gate.verdict == "fine"
    [row] = left.gate.rows
    assert row.verdict == "cannot tell"
    assert f"mimalloc failed in 46 of 92 groups side by side: {CRASH}" in row.sentence
    assert left.gate.exit_code == Exit.NOT_TRUSTWORTHY
