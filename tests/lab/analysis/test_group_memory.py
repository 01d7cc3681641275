"""Figures of control groups: from stored processes to the page and to the terminal."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs
from synthetic import changed, compare_run

from heapwise.analysis.group_memory import group_memory
from heapwise.evidence import Evidence
from heapwise.model import GroupMemory, MemoryCurve
from heapwise.report import View, build_page
from heapwise.store import StoredRun

MIB = 1024
"""In KiB."""


def with_groups(*, own: bool = True, missing: str | None = None) -> StoredRun:
    """jemalloc has 30 MiB, all others 20, of which 2 are files."""
    found = compare_run()
    processes = []
    for process in found.processes:
        anonymous = 28 * MIB if process.subject == "jemalloc" else 18 * MIB
        group = GroupMemory(
            own=own,
            peak_kib=anonymous + 2 * MIB,
            most_kib=anonymous + MIB,
            parts_kib=anonymous + MIB,
            anonymous_kib=anonymous,
            file_kib=2 * MIB,
            kernel_kib=100,
        )
        curve = MemoryCurve(looks=6, at_ms=[1, 2, 3, 4, 5, 6], proportional_kib=[anonymous] * 6)
        processes.append(changed(process, group=group, group_missing=missing, memory=curve))
    return replace(found, processes=processes)


def test_the_parts_are_medians_of_each_subject() -> None:
    [found] = group_memory(Evidence(with_groups()))
    rows = {row.subject: row for row in found.rows}
    assert rows["jemalloc"].peak == 30 * MIB * 1024
    assert rows["jemalloc"].anonymous == 28 * MIB * 1024
    assert rows["glibc"].peak == 20 * MIB * 1024
    assert rows["glibc"].files == 2 * MIB * 1024
    assert rows["glibc"].sockets is None
    assert not found.missing
    assert not {row.subject for row in found.rows} & Evidence(with_groups()).control_names
    assert rows["glibc"].processes == 2 * rows["jemalloc"].processes


def test_parts_of_a_look_far_from_the_peak_are_left_out() -> None:
    stored = with_groups()
    early = [
        changed(process, group=structs.replace(process.facts.group, parts_kib=9 * MIB))
        for process in stored.processes
        if process.facts.group
    ]
    [found] = group_memory(Evidence(replace(stored, processes=early)))
    assert {row.anonymous for row in found.rows} == {None}
    assert None not in {row.peak for row in found.rows}


def test_a_group_with_others_in_it_is_nobodys() -> None:
    why = "no control group may be made here: none is delegated"
    [found] = group_memory(Evidence(with_groups(own=False, missing=why)))
    assert found.rows == []
    assert found.missing == why
    assert found.surrounding == 29 * MIB * 1024


def test_runs_without_figures_of_groups_have_no_section() -> None:
    assert group_memory(Evidence(compare_run())) == []


def test_the_page_has_the_table_or_says_why_not() -> None:
    page = build_page([View(Evidence(with_groups()))])
    assert "Control groups" in page
    assert "30.0 MiB" in page
    why = "its control group has no memory controller of version 2"
    page = build_page([View(Evidence(with_groups(own=False, missing=why)))])
    assert "Control groups" not in page
    assert why in page
    assert "29.0 MiB at most" in page
