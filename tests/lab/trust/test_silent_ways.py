"""Faults of machine and statistics with which a run was once called good. Those of the program and
of the library are planted in real processes, in tests/e2e/test_silent_ways.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from synthetic import Script, changed, compare_run

from heapwise.evidence import Evidence
from heapwise.model import Check, Process
from heapwise.model.facts import Processor
from heapwise.store import StoredRun
from heapwise.trust import check_run


def biased_labels() -> StoredRun:
    """The same thing under two labels differs by 5 % in a comparison of 8 rounds."""
    return compare_run(
        Script(
            rounds=8,
            bend=lambda subject, round_, value: (
                value * (1.05 if subject == "glibc-control" else 1.0)
            ),
        )
    )


def noise() -> StoredRun:
    """Each process varies by 15 %."""
    return compare_run(Script(rounds=14, noise=0.15))


def neighbour_on_the_core() -> StoredRun:
    """Before every second process, chains side by side took half as long again."""

    def look(process: Process) -> Process:
        took = 60_000 if process.number % 2 else 40_000
        return changed(process, processors=[Processor(cpu=0, breadth_before_ns=took)])

    return compare_run(Script(edit=look))


def rounds_that_depend_on_each_other() -> StoredRun:
    """The noise of each subject is nine tenths of that of the round before."""
    random = np.random.default_rng(7)
    level: dict[str, float] = {}

    def drift(subject: str, round_: int, value: float) -> float:
        level[subject] = 0.9 * level.get(subject, 0.0) + 0.01 * float(random.normal())
        return value * float(np.exp(level[subject]))

    return compare_run(Script(rounds=31, bend=drift))


def lower_clock_under_one_allocator() -> StoredRun:
    """The spin is the same before and after each process, and a fifth longer under mimalloc."""

    def slow(process: Process) -> Process:
        if process.subject != "mimalloc":
            return process
        return changed(process, spin_before_ns=1_200_000, spin_after_ns=1_201_000)

    return compare_run(Script(edit=slow))


@pytest.mark.parametrize(
    ("plant", "check", "said"),
    [
        (biased_labels, "V5", "does not come out the same"),
        (noise, "V5", "noise floor"),
        (neighbour_on_the_core, "V26", "somebody shared a core"),
        (rounds_that_depend_on_each_other, "V23", "depend on the rounds before them"),
        (lower_clock_under_one_allocator, "V12", "mimalloc"),
    ],
)
def test_the_fault_is_reported_and_the_run_is_not_good(
    plant: Callable[[], StoredRun], check: str, said: str
) -> None:
    trust = check_run(Evidence(plant()))
    found: Check = next(each for each in trust.checks if each.id == check)
    assert found.verdict in ("warn", "fail"), found.detail
    assert said in found.detail
    assert trust.verdict != "good"
