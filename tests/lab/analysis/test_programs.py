"""Programs under each allocator: means over all of them, and rows of those that are not here."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import Any

import pytest
from msgspec import structs
from synthetic_heap import BASE, LEAN, SPEED, Heap, experiment_of, heap_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import (
    Experiment,
    Goal,
    Identity,
    Library,
    Parameter,
    Process,
    ProgramSpec,
    Quantity,
    Result,
)
from heapwise.store import StoredRun
from heapwise.trust import v01_identity

OURS = "malloc@heapwise"
LARGER = 1.26


def experiment(*more: ProgramSpec) -> Experiment:
    here = [ProgramSpec(name, name, ["true"]) for name in ("gawk", "perl", "sqlite3")]
    quantities = [Quantity("wall", "s", "lower"), Quantity("peak_resident", "bytes", "lower")]
    return replace(
        experiment_of("heap/real_programs", quantities, list(SPEED)),
        parameters=[Parameter("program", "", [program.name for program in here], [])],
        programs=[*here, *more],
    )


def stored(*more: ProgramSpec, larger: float = LARGER, **changes: Any) -> StoredRun:
    def bend(
        _: str, subject: str, parameters: dict[str, Any], quantity: str, value: float
    ) -> float:
        ours = parameters.get("program") == "sqlite3" and subject == OURS
        is_peak = quantity == "peak_resident"
        return value * larger / LEAN[OURS] if ours and is_peak else value

    return heap_run(Heap(extra=[experiment(*more)], bend=bend, **changes))


USUAL = stored()
RESULT = cache(partial(analyse, Evidence(USUAL)))


def headline(run: StoredRun, start: str) -> str:
    result = RESULT() if run is USUAL else analyse(Evidence(run))
    return next((line for line in result.headlines if line.startswith(start)), "")


def test_the_geometric_mean_is_over_the_programs() -> None:
    line = headline(USUAL, "real_programs time, geometric mean over 3 programs")
    assert "times better than glibc" in line
    assert "heapwise 1.9" in line
    assert line.index("heapwise") < line.index("mimalloc") < line.index("jemalloc")
    peak = headline(USUAL, "real_programs peak memory")
    mean = 1 / (LEAN[OURS] ** 2 * LARGER) ** (1 / 3)
    assert f"heapwise {mean:.2f}" in peak


def test_programs_in_which_ours_has_more_peak_memory_are_named() -> None:
    assert headline(USUAL, "heapwise has more peak memory") == (
        "heapwise has more peak memory than glibc in 1 of 3 programs: sqlite3 1.26x"
    )


def test_a_program_is_named_only_if_its_row_says_that_it_is_worse() -> None:
    """An interval that does not hold 1 is not enough."""
    run = stored(larger=1.007)
    (row,) = (
        row
        for row in analyse(Evidence(run)).rows
        if row.subject == OURS
        and row.parameters.get("program") == "sqlite3"
        and row.quantity == "peak_resident"
    )
    assert row.ratio_low is not None
    assert row.ratio_low > 1
    assert row.verdict != "worse"
    assert headline(run, "heapwise has more peak memory") == (
        "heapwise has more peak memory than glibc in 0 of 3 programs"
    )


def test_without_an_allocator_beside_the_baseline_there_is_no_mean() -> None:
    run = stored(
        lost=lambda experiment, subject, parameters: (
            subject.removesuffix("-control") != BASE and parameters.get("program") == "perl"
        )
    )
    assert headline(run, "real_programs") == ""


def test_without_an_interval_there_is_no_sentence_about_peaks() -> None:
    assert headline(stored(rounds=1), "heapwise has more peak memory") == ""


def test_no_mean_over_survivors() -> None:
    line = headline(
        stored(
            lost=lambda experiment, subject, parameters: (
                subject == "malloc@tcmalloc" and parameters.get("program") == "perl"
            )
        ),
        "real_programs time",
    )
    assert "not measured under every program: tcmalloc" in line


def test_a_program_that_is_not_here_is_one_row_with_the_way_to_get_it() -> None:
    absent = ProgramSpec(
        "redis",
        "redis",
        ["true"],
        status="missing",
        reason="redis-server is not here: apt-get install redis-server",
    )
    rows = [
        row
        for row in analyse(Evidence(stored(absent))).rows
        if row.cell.parameters.get("program") == "redis"
    ]
    assert [(row.subject, row.status, row.median) for row in rows] == [(BASE, "missing", None)]
    assert "apt-get install redis-server" in rows[0].note


def test_a_child_without_the_library_is_told_from_the_baseline_of_the_same_program() -> None:
    """V1: perl starts a child under each allocator, and the probe is missing in that of ours."""
    run = USUAL
    child = Identity(exe="/usr/bin/child", malloc=Library("/lib/libc.so.6", "aa"))

    def with_child(process: Process) -> Process:
        if process.parameters.get("program") != "perl" or process.subject == OURS:
            return process
        return replace(process, identity=[*process.identity, replace_malloc(child, process)])

    def replace_malloc(record: Identity, process: Process) -> Identity:
        return structs.replace(record, malloc=process.identity[0].malloc)

    whole = replace(run, processes=[with_child(process) for process in run.processes])
    check = v01_identity.check(Evidence(whole))
    assert check.verdict == "fail"
    assert "/usr/bin/child 0 instead of 1 times under malloc@heapwise" in check.detail
    assert v01_identity.check(Evidence(run)).verdict == "pass"


def test_aims_for_programs_are_of_their_own_and_in_no_other() -> None:
    """A third more peak memory in one program fails two of them; without it both are met."""

    def goals(result: Result) -> dict[str, Goal]:
        return {goal.cell: goal for goal in result.goals}

    found = goals(RESULT())
    peak, mean = found["peak memory of programs"], found["peak memory of programs, mean"]
    assert (peak.verdict, mean.verdict) == ("not met", "met")
    assert peak.ratio == pytest.approx(LARGER, rel=0.01)
    assert mean.ratio == pytest.approx((LEAN[OURS] ** 2 * LARGER) ** (1 / 3), rel=0.01)
    assert "at most 1.08x" in peak.aim
    assert len(found["time of programs"].parts) == 3
    without = goals(analyse(Evidence(heap_run(Heap()))))
    for goal in ("geometric mean of all rows", "peak memory of every row", "no row far behind"):
        assert found[goal].ratio == pytest.approx(without[goal].ratio, rel=0.02)
        assert len(found[goal].parts) == len(without[goal].parts)
    assert without["time of programs"].verdict == "not measured"


def test_a_little_more_peak_memory_than_the_baseline_is_allowed() -> None:
    run = heap_run(Heap(extra=[experiment()], lean={**LEAN, OURS: 1.05}))
    goal = next(g for g in analyse(Evidence(run)).goals if g.cell == "peak memory of programs")
    assert goal.verdict == "met"
