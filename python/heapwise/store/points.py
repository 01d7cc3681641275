"""The medians of each run of a store, from which histories are made. The index keeps them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import msgspec

from heapwise.errors import Problem
from heapwise.model import (
    Process,
    Quantity,
    Revision,
    Run,
    Setting,
    Settings,
    Setup,
    command_at,
    hardware,
    input_of,
    place_of,
)
from heapwise.model.peak_reach import MIXED, PEAK, peak_reach, without_peaks_beside
from heapwise.store import index
from heapwise.store.listing import Listing, list_runs
from heapwise.store.location import RUN_FILE, SAMPLES_FILE
from heapwise.store.reader import read_run
from heapwise.store.stored_run import StoredRun
from heapwise.wording.metrics import OF_COUNTS


class Point(msgspec.Struct, frozen=True):
    """The median of what one subject was measured to take, in a cell of a run.

    command: of the program, or the experiment's id. toolchain: the allocator's version and build
    id, or the compiler of the experiment. place: where the command was typed, "" of an experiment.
    input: a hash of the file of ``--input``, "" without one. baseline: the subject that the run
    compares it with, which may be itself; "" if the run has none. reach: of a peak, whether it is
    that of the largest process or of all.
    """

    command: str
    subject: str
    parameters: dict[str, Setting]
    quantity: str
    unit: str
    better: str
    value: float
    n: int
    toolchain: str = ""
    place: str = ""
    input: str = ""
    baseline: str = ""
    reach: str = ""


class RunPoints(msgspec.Struct, frozen=True):
    """machine: its name, or what stays if its system is updated. host: "" if the user has named the
    machine. system: kernel and C library."""

    run: str
    created: str
    smoke: bool
    machine: str
    host: str
    system: str
    revision: Revision | None
    points: list[Point]


def read_points(store: Path) -> list[RunPoints]:
    """The points of all complete runs that can be read, oldest first. Those that the index does not
    have are read and added."""
    known = index.load_points(store)
    kept: dict[bytes, index.Points] = {}
    found: list[RunPoints] = []
    for listing in list_runs(store):
        if listing.problem or listing.state != "complete":
            continue
        name, stamp = os.fsencode(listing.folder.name), _stamp(listing.folder)
        entry = known.get(name)
        points = _decoded(entry) if entry and entry.stamp == stamp else None
        if entry is None or points is None:
            points = _of_run(store, listing)
            entry = index.Points(name, stamp, msgspec.json.encode(points))
        kept[name] = entry
        if points is not None:
            found.append(points)
    if kept != known:
        index.save(store, points=kept.values())
    return found


def _stamp(folder: Path) -> str:
    """The stamp of both files; "" if one cannot be looked at."""
    try:
        return " ".join(index.stamp((folder / name).stat()) for name in (RUN_FILE, SAMPLES_FILE))
    except OSError:
        return ""


def _decoded(entry: index.Points) -> RunPoints | None:
    try:
        return msgspec.json.decode(entry.content, type=RunPoints | None)
    except ValueError:
        return None


def _of_run(store: Path, listing: Listing) -> RunPoints | None:
    """None for a run that cannot be read."""
    try:
        return points_of(read_run(store, str(listing.folder)))
    except Problem:
        return None


def points_of(stored: StoredRun) -> RunPoints:
    """The medians of the samples that count before the rules of the evidence: processes that ended
    well, without warm-up and without the second label of the baseline; no peak that is of now one,
    now all processes."""
    run = stored.run
    controls = {subject.name for subject in run.plan.subjects if subject.control}
    values: dict[tuple[Setup, str, str], list[float]] = defaultdict(list)
    for sample in without_peaks_beside(stored.finished_samples, stored.processes):
        if not sample.warm_up and sample.subject not in controls:
            for quantity, value in sample.values.items():
                values[sample.setup, sample.subject, quantity].append(float(value))
    compilers = _compilers(stored.processes)
    declared = {(e.id, q.name): q for e in run.experiments for q in e.quantities}
    values = {**_counts(p for p in stored.processes if p.subject not in controls), **values}
    baselines, reaches = _baselines(run), _reaches(stored)
    machine, points = run.machine, []
    for (setup, subject, name), numbers in values.items():
        experiment, settings = setup
        known = declared.get((experiment, name)) or _counted(name)
        reach = reaches.get((setup, subject), "") if name == PEAK else ""
        if reach == MIXED:
            continue
        command, place = _command(run, experiment, subject)
        points.append(
            Point(
                command,
                subject,
                _plain(settings),
                name,
                known.unit,
                known.better,
                median(numbers),
                len(numbers),
                _toolchain(run, subject) or compilers.get((experiment, subject), ""),
                place,
                input_of(run.plan),
                baselines.get(experiment, ""),
                reach,
            )
        )
    return RunPoints(
        run.id,
        run.created,
        run.plan.smoke,
        hardware(machine),
        "" if machine.name else machine.host,
        f"{machine.kernel}, {machine.libc}",
        run.revision,
        points,
    )


def _baselines(run: Run) -> dict[str, str]:
    """Experiment -> the subject that its ratios are taken against."""
    planned = next((subject.name for subject in run.plan.subjects if subject.baseline), "")
    names = {subject.name for subject in run.plan.subjects}
    return {e.id: e.baseline if e.baseline in names else planned for e in run.experiments}


def _reaches(stored: StoredRun) -> dict[tuple[Setup, str], str]:
    """What the peaks of a program in a setup are the peaks of."""
    found: dict[tuple[Setup, str], list[Process]] = defaultdict(list)
    for process in stored.processes:
        if not process.facts.counting and process.facts.beside is None:
            found[process.setup, process.subject].append(process)
    return {row: peak_reach(processes) for row, processes in found.items()}


def _counts(processes: Iterable[Process]) -> dict[tuple[Setup, str, str], list[float]]:
    """What processes that are not timed counted."""
    found: dict[tuple[Setup, str, str], list[float]] = defaultdict(list)
    for process in processes:
        if not process.facts.counting or process.status != "ok":
            continue
        for name, metric in OF_COUNTS.items():
            count = metric.count(process.facts) if metric.count else None
            if count is not None:
                found[process.setup, process.subject, name].append(float(count))
    return found


def _counted(name: str) -> Quantity:
    unit = "bytes" if name == "allocated_bytes" else "count"
    return Quantity(name, unit, "lower", "counted in a process that is not timed")


def _plain(settings: Settings) -> dict[str, Setting]:
    return dict(settings)


def _command(run: Run, experiment: str, subject: str) -> tuple[str, str]:
    """What was run and where it was typed: a program of the user, or an experiment anywhere."""
    if not run.plan.traits.whole_programs:
        return experiment, ""
    command = command_at(run.plan.build_of(subject), run.revision)
    return command, place_of(run.plan, run.revision)


def _toolchain(run: Run, subject: str) -> str:
    peer = next((s.peer for s in run.plan.subjects if s.name == subject), None)
    return f"{peer.name} {peer.version} {peer.build_id[:12]}".strip() if peer else ""


def _compilers(processes: list[Process]) -> dict[tuple[str, str], str]:
    return {
        (p.experiment, p.subject): f"{p.facts.start.compiler} {p.facts.start.flags or ''}"
        for p in processes
        if p.facts.start and p.facts.start.compiler
    }
