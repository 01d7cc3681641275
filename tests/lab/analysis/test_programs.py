"""Programs under each allocator: means over all of them, and rows of those that are not here."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

from msgspec import structs
from synthetic_heap import BASE, LEAN
from synthetic_programs import LARGER, OURS, programs_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import (
    Identity,
    Library,
    Process,
    ProgramSpec,
)
from heapwise.store import StoredRun
from heapwise.trust.subjects import v01_identity

USUAL = programs_run()
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


def test_without_an_allocator_beside_the_baseline_there_is_no_mean() -> None:
    run = programs_run(
        lost=lambda experiment, subject, parameters: (
            subject.removesuffix("-control") != BASE and parameters.get("program") == "perl"
        )
    )
    assert headline(run, "real_programs") == ""


def test_no_mean_over_survivors() -> None:
    line = headline(
        programs_run(
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
        for row in analyse(Evidence(programs_run(absent))).rows
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
