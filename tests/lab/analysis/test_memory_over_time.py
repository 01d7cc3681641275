"""Bands and growth of memory curves, from stored processes."""

from __future__ import annotations

from dataclasses import replace

from synthetic import changed, compare_run

from heapwise.analysis.memory_over_time import memory_over_time
from heapwise.evidence import Evidence
from heapwise.model import MemoryCurve, Process
from heapwise.report import View, build_page
from heapwise.store import StoredRun

KIB = 1024
HOUR_MS = 3600e3


def with_curves(seconds: int = 120, leak: str = "", moments: int = 60) -> StoredRun:
    """Every process has 100 MiB, those of the leaking subject 600 MiB more each hour."""
    def curve(process: Process) -> Process:
        at = [seconds * 1000 * (place + 1) // moments for place in range(moments)]
        each_ms = 600 * KIB / HOUR_MS if process.subject == leak else 0.0
        kib = [round(100 * KIB + each_ms * ms + process.number % 3) for ms in at]
        found = MemoryCurve(looks=moments, peak_kib=max(kib), last_kib=kib[-1], at_ms=at,
                            proportional_kib=kib, unread=[0] * moments)
        return changed(process, memory=found)

    found = compare_run()
    return replace(found, processes=[curve(process) for process in found.processes])


def test_each_subject_has_a_band_and_the_control_lies_in_the_baselines() -> None:
    evidence = Evidence(with_curves())
    [found] = memory_over_time(evidence)
    names = [band.subject for band in found.bands]
    assert names == [name for name in evidence.subjects if name not in evidence.control_names]
    baseline = next(b for b in found.bands if b.subject == evidence.baselines["compare"])
    assert baseline.processes == 2 * found.bands[-1].processes
    for band in found.bands:
        assert all(low <= middle <= high for low, middle, high in
                   zip(band.low, band.middle, band.high, strict=True))
        assert min(band.low) >= 100 * KIB * KIB


def test_a_leak_is_found_in_the_subject_that_has_it() -> None:
    evidence = Evidence(with_curves(leak="jemalloc"))
    [found] = memory_over_time(evidence)
    trends = {band.subject: band.growth.trend for band in found.bands if band.growth}
    assert trends.pop("jemalloc") == "grows"
    assert set(trends.values()) == {"level"}
    leaking = next(band.growth for band in found.bands if band.subject == "jemalloc")
    assert leaking is not None
    assert abs(leaking.per_hour / (600 * KIB * KIB) - 1) < 0.02


def test_short_processes_say_nothing_about_hours() -> None:
    [found] = memory_over_time(Evidence(with_curves(seconds=10, leak="jemalloc")))
    assert {band.growth for band in found.bands} == {None}


def test_processes_without_enough_moments_have_no_curve() -> None:
    assert memory_over_time(Evidence(with_curves(moments=4))) == []
    assert memory_over_time(Evidence(compare_run())) == []


def test_the_page_has_the_figure_and_says_what_grows() -> None:
    page = build_page([View(Evidence(with_curves(leak="jemalloc")))])
    assert 'class="figure memory"' in page
    assert "grows by 600 MiB an hour" in page
    assert "data-zoom" in page
