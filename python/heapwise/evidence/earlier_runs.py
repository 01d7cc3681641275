"""The calibration of a new run: by the A/A pairs of the runs that its machine has in the store.

Scores are computed from raw samples by the rules of today, and never read from a run. So a mended
rule changes the scores of old runs, too. The index of the store keeps them for this version.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from heapwise import __version__
from heapwise.errors import Problem
from heapwise.evidence.comparisons import comparisons_of
from heapwise.evidence.evidence import Evidence
from heapwise.model import SIDE_BY_SIDE, Calibration, Machine, Run, hardware
from heapwise.stats.ratios.calibration_factor import LEAST, MOST, calibration_factor, score
from heapwise.store import Listing, StoredRun, index, list_runs, read_run
from heapwise.store.location import RUN_FILE, SAMPLES_FILE
from heapwise.wording.lists import counted, listed
from heapwise.wording.numbers import significant

VARIABLE, LEFT_OUT = "HEAPWISE_CALIBRATION", "no"
"""How a user leaves the calibration out."""

FEWEST_PAIRS = 6
"""A/A pairs of a run that has a score."""

TIMES = ("s", "ns")
"""Units of the quantities that have a score."""

PATIENCE_S = 1.0
"""No more time is spent on runs that have no score yet: a later run goes on with the rest."""


class RunScores(msgspec.Struct, frozen=True):
    """scores: of the A/A pair, by quantity. place: the machine, as ``place_of`` has it."""

    place: str
    scores: dict[str, float]


def is_left_out(environment: Mapping[str, str]) -> bool:
    """Whether the user does not want intervals to be widened."""
    return environment.get(VARIABLE, "") == LEFT_OUT


def calibrate(store: Path, machine: Machine) -> dict[str, Calibration]:
    """Quantity -> what the runs of this machine say; without those of too few runs."""
    found: dict[str, list[float]] = {}
    place = place_of(machine)
    for scores in _newest(store):
        if scores.place != place:
            continue
        for quantity, value in scores.scores.items():
            if len(found.setdefault(quantity, [])) < MOST:
                found[quantity].append(value)
    return {
        quantity: Calibration(len(values), calibration_factor(values))
        for quantity, values in found.items()
        if len(values) >= LEAST
    }


def scored_runs(store: Path, machine: Machine) -> int:
    """How many runs of this machine have a score."""
    return sum(bool(s.scores) and s.place == place_of(machine) for s in _newest(store))


def calibration_words(evidence: Evidence) -> str:
    """``14 runs of this machine: intervals of time are 1.1 times as wide``; "" if none is widened.
    Of the first quantity, and of the rounds side by side."""
    first = evidence.stored.run.experiments[0].quantities[0].name
    shown = {first: "time", SIDE_BY_SIDE: "CPU time side by side"}
    return listed(
        f"{counted(known.runs, 'run')} of this machine: intervals of {name} are "
        f"{significant(known.factor, 2)} times as wide"
        for quantity, name in shown.items()
        if (known := evidence.stored.run.calibration.get(quantity)) and known.factor > 1
    )


def place_of(machine: Machine) -> str:
    """The name that the user gave the machine; else its hardware and its host."""
    return machine.name or f"{hardware(machine)} {machine.host}"


def scores_of(stored: StoredRun) -> dict[str, float]:
    """Quantity -> the score of the A/A pair, by intervals without a calibration. Only of times and
    of ratios side by side, and of the first of several cells: those of one run share its state of
    the machine."""
    evidence = Evidence(replace(stored, run=replace(stored.run, calibration={})))
    found: dict[str, float] = {}
    for cell, noise in comparisons_of(evidence).noise.items():
        quantity = evidence.quantities[cell.experiment, cell.quantity]
        is_time = quantity.unit.partition("/")[0] in TIMES or quantity.relative
        if noise.pairs >= FEWEST_PAIRS and is_time:
            found.setdefault(cell.quantity, score(noise.p_value))
    return found


def _newest(store: Path) -> Iterable[RunScores]:
    """The newest runs first. Those that the index does not have are read and added."""
    known = index.load_scores(store)
    kept: dict[bytes, index.Points] = {}
    found = []
    ends_s = time.monotonic() + PATIENCE_S
    for listing in reversed(list_runs(store)):
        if listing.problem or listing.smoke or (listing.kind, listing.state) != KIND:
            continue
        name, stamp = os.fsencode(listing.folder.name), _stamp(listing.folder)
        entry = known.get(name)
        scores = _decoded(entry) if entry and entry.stamp == stamp else None
        if scores is None:
            if time.monotonic() >= ends_s:
                continue
            scores = _of_run(store, listing)
            entry = index.Points(name, stamp, msgspec.json.encode(scores))
        if entry is not None:
            kept[name] = entry
        found.append(scores)
    if kept != known:
        index.save(store, scores=kept.values())
    return found


KIND = ("compare", "complete")
"""Only runs that came to their own end: one that was stopped may have been stopped for what it
showed."""


def _of_run(store: Path, listing: Listing) -> RunScores:
    """Without a score if the run cannot be read, or is a gate."""
    try:
        stored = read_run(store, str(listing.folder))
    except Problem:
        return RunScores("", {})
    return RunScores(
        place_of(stored.run.machine), scores_of(stored) if _is_plain(stored.run) else {}
    )


def _is_plain(run: Run) -> bool:
    return run.plan.traits.ends_by == "intervals"


def _stamp(folder: Path) -> str:
    """The state of both files and of the rules; "" if a file cannot be looked at."""
    try:
        files = [index.stamp((folder / name).stat()) for name in (RUN_FILE, SAMPLES_FILE)]
    except OSError:
        return ""
    return " ".join([__version__, *files])


def _decoded(entry: index.Points) -> RunScores | None:
    try:
        return msgspec.json.decode(entry.content, type=RunScores)
    except ValueError:
        return None
