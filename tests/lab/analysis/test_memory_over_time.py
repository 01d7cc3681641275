"""Bands and growth of memory curves, from stored processes."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as replaced
from numpy.typing import NDArray
from synthetic import changed, compare_run

from heapwise.analysis.memory_over_time import growth_of, memory_over_time
from heapwise.document.terminal import terminal
from heapwise.evidence import Evidence
from heapwise.model import MemoryCurve, Parameter, Process, ServerOptions, Settings
from heapwise.report import View, build_page
from heapwise.store import StoredRun
from heapwise.study.server.server_tables import growth_tables

KIB = 1024
HOUR_MS = 3600e3
Numbers = NDArray[np.float64]


def with_curves(seconds: int = 120, leak: str = "", moments: int = 60) -> StoredRun:
    """Every process has 100 MiB, those of the leaking subject 600 MiB more each hour."""

    def curve(process: Process) -> Process:
        at = [seconds * 1000 * (place + 1) // moments for place in range(moments)]
        each_ms = 600 * KIB / HOUR_MS if process.subject == leak else 0.0
        kib = [round(100 * KIB + each_ms * ms + process.number % 3) for ms in at]
        found = MemoryCurve(
            looks=moments,
            peak_kib=max(kib),
            last_kib=kib[-1],
            at_ms=at,
            proportional_kib=kib,
            unread=[0] * moments,
        )
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
        assert all(
            low <= middle <= high
            for low, middle, high in zip(band.low, band.middle, band.high, strict=True)
        )
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


def test_the_page_says_how_much_the_kernel_may_take_back() -> None:
    def lazy(process: Process) -> Process:
        curve = process.facts.memory
        assert curve is not None
        free = 30 * KIB if process.subject == "jemalloc" else 0
        return changed(process, memory=replaced(curve, lazy_free_kib=[free] * len(curve.at_ms)))

    stored = with_curves()
    page = build_page(
        [View(Evidence(replace(stored, processes=[lazy(process) for process in stored.processes])))]
    )
    assert page.count("30.0 MiB of it may be taken back") == 1
    assert "may be taken back" not in build_page([View(Evidence(with_curves()))])


def a_server(live: int | None) -> StoredRun:
    """Under a load without a rate. live: most bytes at once, of a process whose calls were
    counted."""
    stored = with_curves()
    load: Settings = Settings.of({"load": "capacity"})
    options = replace(stored.run.plan.options, server=ServerOptions(ready="tcp:1", load=["wrk"]))
    [experiment] = stored.run.experiments
    plan = replace(stored.run.plan, kind="run", options=options, parameters={"load": ["capacity"]})
    run = replace(
        stored.run,
        plan=plan,
        experiments=[
            replace(
                experiment,
                parameters=[Parameter("load", "of the server", ["capacity"], ["capacity"])],
            )
        ],
    )
    processes = [
        replace(process, parameters=load)
        for process in stored.processes
        if not process.facts.counting
    ]
    counted = changed(
        replace(processes[0], number=len(processes), round=-1, warm_up=True),
        counting=True,
        peak_live_bytes=live,
        memory=None,
    )
    samples = [replace(sample, parameters=load) for sample in stored.samples]
    return replace(stored, run=run, processes=[*processes, counted], samples=samples)


def test_a_server_has_its_peak_memory_over_its_live_bytes() -> None:
    words = "Peak memory over live bytes"
    assert words in build_page([View(Evidence(a_server(live=10 << 20)))])
    assert words not in build_page([View(Evidence(a_server(live=None)))])


LEVEL_KIB = 200 * KIB
TEN_MINUTES_S = 600
SERVERS = 100


def _noise(chance: np.random.Generator, count: int, correlation: float) -> Numbers:
    """Of 100 KiB, each value depending on the one before."""
    found = np.zeros(count)
    for place in range(1, count):
        found[place] = correlation * found[place - 1] + chance.normal(0, 100)
    return found


def _step(chance: np.random.Generator, at: Numbers) -> Numbers:
    return np.where(chance.uniform(0, TEN_MINUTES_S) < at, chance.uniform(100, 8000), 0.0)


def _teeth(chance: np.random.Generator, at: Numbers) -> Numbers:
    period = chance.uniform(5, 100)
    return 4000 * ((at + chance.uniform(0, period)) % period) / period


def simulated(chance: np.random.Generator, kind: str, *, leak: float = 0.0) -> MemoryCurve:
    """Ten minutes of a server of 200 MiB as the launcher keeps it. leak: share of the level an
    hour."""
    at = np.sort(chance.uniform(0.05, TEN_MINUTES_S, 600))
    kib = LEVEL_KIB * (1 + leak * at / 3600) + _noise(chance, len(at), 0.7)
    if kind == "steps":
        kib += _step(chance, at) + _step(chance, at)
    if kind == "teeth":
        kib += _teeth(chance, at)
    if kind == "warm-up":
        kib -= 40_000 * np.exp(-at / 30)
    return MemoryCurve(
        looks=len(at),
        at_ms=[round(1000 * one) for one in at],
        proportional_kib=[round(one) for one in kib],
        unread=[0] * len(at),
    )


@pytest.mark.parametrize("kind", ["noise", "steps", "teeth", "warm-up"])
def test_none_of_a_hundred_level_servers_grows(kind: str) -> None:
    chance = np.random.default_rng(15)
    found = [growth_of([simulated(chance, kind)]) for _ in range(SERVERS)]
    assert not [one for one in found if one is None or one.trend == "grows"]


@pytest.mark.parametrize("kind", ["noise", "warm-up"])
def test_five_percent_an_hour_are_seen_in_ten_minutes(kind: str) -> None:
    chance = np.random.default_rng(16)
    found = [growth_of([simulated(chance, kind, leak=0.05)]) for _ in range(SERVERS)]
    assert sum(one is not None and one.trend == "grows" for one in found) >= 0.9 * SERVERS


def test_a_leak_of_servers_in_six_rounds_is_seen_under_steps_of_some() -> None:
    chance = np.random.default_rng(17)
    curves = [simulated(chance, "noise", leak=0.05) for _ in range(6)]
    found = growth_of([*curves, simulated(chance, "steps", leak=0.05)])
    assert found is not None
    assert found.trend == "grows"


def test_the_terminal_says_of_each_allocator_whether_its_memory_grows() -> None:
    head, *lines = terminal(growth_tables(Evidence(with_curves(leak="jemalloc")))).splitlines()
    assert head.split("  ")[0] == "memory"
    assert head.endswith("peak     mean     at the end  second half (95 % CI)")
    leaking = [line for line in lines if line.split()[0] == "jemalloc"]
    assert len(leaking) == 1
    assert re.search(r"grows by 600 MiB an hour \(\d", leaking[0])
    assert all("level" in line for line in lines if line not in leaking)


def test_the_terminal_says_nothing_of_short_programs() -> None:
    assert growth_tables(Evidence(with_curves(seconds=20))) == []
