"""The types of those stored facts and options that are read. Others may be anything.

A line in which one of them has another type was damaged, or made by hand, and is skipped like one
that is no JSON.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from heapwise.model import Process, Run, Sample

Count = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]
Number = Annotated[float, msgspec.Meta(ge=-1e100, le=1e100)]
"""Beyond it squares overflow, and nothing that is measured is near it."""


class Library(msgspec.Struct):
    path: str | None = None
    build_id: str | None = None


class Identity(msgspec.Struct):
    """A line of the probe."""

    exe: str = ""
    malloc: Library | None = None
    affinity: list[Count] | None = None


class Clock(msgspec.Struct):
    resolution_ns: Number = 0
    overhead_ns: Number = 0


class Start(msgspec.Struct):
    """The first line of an experiment's process."""

    compiler: str | None = None
    flags: str | None = None
    ndebug: bool | None = None
    affinity: list[Count] | None = None
    clock: Clock | None = None
    plant_ns: Number | None = None


class End(msgspec.Struct):
    expected_calls: Count | None = None


class Check(msgspec.Struct):
    id: str = ""
    ok: bool = True
    detail: str = ""


class ProcessFacts(msgspec.Struct):
    wall_s: Number | None = None
    user_s: Number | None = None
    system_s: Number | None = None
    peak_rss_bytes: Count | None = None
    launcher_rss_bytes: Count | None = None
    minor_faults: Count | None = None
    major_faults: Count | None = None
    voluntary_switches: Count | None = None
    involuntary_switches: Count | None = None
    exit_code: Count | None = None
    signal: Count | None = None
    lingering: Count | None = None
    steal_ticks: Count | None = None
    psi_cpu_us: Count | None = None
    spin_before_ns: Number | None = None
    spin_after_ns: Number | None = None
    counters_running_share: Number | None = None
    output_hash: str | None = None
    timed_out: bool | None = None
    affinity: list[Count] | None = None
    counting: bool | None = None
    calls: dict[str, Count] | None = None
    sizes: list[Count] | None = None
    bytes_requested: Count | None = None
    counted_wall_s: Number | None = None
    plain_wall_s: Number | None = None
    compiler: str | None = None
    flags: str | None = None
    ndebug: bool | None = None
    clock: Clock | None = None
    plant_ns: Number | None = None
    expected_calls: Count | None = None
    stderr_tail: str | None = None
    checks: list[Check] | None = None
    start: Start | None = None
    end: End | None = None


class SampleFacts(msgspec.Struct):
    elapsed_ns: Number | None = None
    operations: Number | None = None
    shortest_region_ns: Number | None = None
    spin_before_ns: Number | None = None
    spin_after_ns: Number | None = None
    breadth_before_ns: Number | None = None
    breadth_after_ns: Number | None = None
    waited_ns: Number | None = None
    cpus: list[Count] | None = None


class Options(msgspec.Struct):
    """Of the plan."""

    cpus: list[Count] | None = None
    as_typed: list[str] | None = None
    removed_environment: list[str] | None = None
    environment_changed: list[str] | None = None
    repeats: Count | None = None


def check_run(run: Run) -> None:
    """ValueError for what ``Run`` allows, and no run has."""
    _check(run.plan.options, Options)
    if not all(experiment.quantities for experiment in run.experiments):
        raise ValueError("an experiment of it has no quantity")


def check_types(record: Process | Sample) -> None:
    """ValueError for a fact of another type, or a number that cannot have been measured."""
    if isinstance(record, Process):
        _check(record.facts, ProcessFacts)
        _check(record.identity, list[Identity])
    else:
        _check(record.facts, SampleFacts)
        _check(record.values, dict[str, Number])


def _check(value: Any, kind: Any) -> None:
    msgspec.convert(value, kind)
