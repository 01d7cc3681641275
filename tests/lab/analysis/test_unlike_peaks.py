"""A peak of all processes is not compared with the peak of the largest one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import changed, compare_run

from heapwise.analysis import analyse
from heapwise.analysis.across_runs.history import series_of
from heapwise.evidence import Evidence
from heapwise.model import Beside, Identity, MemoryCurve, Process, ProcessFacts, Row, Sample
from heapwise.model.peak_reach import (
    ALL,
    LARGEST,
    MIXED,
    PEAK,
    peak_reach,
    unlike_peaks,
    without_peaks_beside,
)
from heapwise.store import StoredRun, points_of

SEEN = MemoryCurve(looks=2, peak_kib=3600, processes=[2, 2])
ALONE = MemoryCurve(looks=2, peak_kib=1800, processes=[1, 1])


def process(curve: MemoryCurve | None, processes: int) -> Process:
    identity = [Identity(exe="/x")] * processes
    return Process(0, "e", "new", {}, 0, "ok", facts=ProcessFacts(memory=curve), identity=identity)


@pytest.mark.parametrize(
    ("found", "reach"),
    [
        ([process(None, 1)], ""),
        ([process(ALONE, 1)], ""),
        ([process(ALONE, 2)], ""),
        ([process(None, 3)], LARGEST),
        ([process(SEEN, 3)], ALL),
        ([process(SEEN, 3), process(None, 3)], MIXED),
        ([process(SEEN, 3)] * 19 + [process(None, 3)], ALL),
    ],
)
def test_a_peak_has_a_reach(found: list[Process], reach: str) -> None:
    assert peak_reach(found) == reach


def test_peaks_that_differ_by_their_reach_alone() -> None:
    assert unlike_peaks(LARGEST, ALL)
    assert unlike_peaks(MIXED, MIXED)
    assert not unlike_peaks(LARGEST, LARGEST)
    assert not unlike_peaks("", ALL)


def of_children(stored: StoredRun, curves: dict[str, MemoryCurve | None]) -> StoredRun:
    """The run as if each program had started others, looked at together or not."""
    processes = [
        changed(replace(each, identity=[Identity(exe="/x")] * 2), memory=curves[each.subject])
        if each.subject in curves
        else each
        for each in stored.processes
    ]
    return replace(stored, processes=processes)


def peaks(stored: StoredRun) -> dict[str, Row]:
    found = analyse(Evidence(stored)).rows
    return {row.subject: row for row in found if row.cell.quantity == "peak_memory"}


def test_a_program_that_only_became_slower_needs_no_more_memory() -> None:
    plain = compare_run()
    base, control = (
        next(s.name for s in plain.run.plan.subjects if s.baseline),
        next(s.name for s in plain.run.plan.subjects if s.control),
    )
    more = next(name for name, row in peaks(plain).items() if row.verdict == "worse")
    curves: dict[str, MemoryCurve | None] = {base: None, control: None, more: SEEN}
    row = peaks(of_children(plain, curves))[more]
    assert row.verdict == "cannot tell"
    assert "not looked at together" in row.note
    assert peaks(of_children(plain, dict.fromkeys(curves, SEEN)))[more].verdict == "worse"


def test_history_compares_no_peaks_of_unlike_reach() -> None:
    plain = compare_run()
    name = next(s.name for s in plain.run.plan.subjects if s.baseline)
    runs = [
        points_of(of_children(plain, {name: curve})) for curve in (None, None, None, SEEN, SEEN)
    ]
    [series] = [series for series in series_of(runs, ["peak_memory"]) if series.key.subject == name]
    assert [seam.place for seam in series.seams] == [3]
    assert series.seams[0].why == f"the peak of {LARGEST} became the peak of {ALL}"


def test_a_peak_of_all_that_was_taken_beside_another_process_is_left_out() -> None:
    """Proportional sizes beside a process of the same program are smaller."""
    alone, beside = process(SEEN, 2), changed(process(SEEN, 2), beside=Beside(baseline=0))
    samples = [
        Sample(number, "e", "new", {}, 0, 0, False, {PEAK: 1.0, "minor_faults": 2.0})
        for number in (1, 2)
    ]
    both = [replace(alone, number=1), replace(beside, number=2)]
    found = without_peaks_beside(samples, both)
    assert [each.values for each in found] == [samples[0].values, {"minor_faults": 2.0}]
    assert without_peaks_beside(samples[1:], both[1:]) == samples[1:]  # it never ran by itself
    one = [changed(each, memory=ALONE) for each in both]
    assert without_peaks_beside(samples, one) == samples
