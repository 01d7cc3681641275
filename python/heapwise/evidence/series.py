"""The kept numbers of a run, arranged: what one subject yielded in one cell for one quantity.

The process is the unit that is independent of others: repeats inside one share its memory layout.
So a round gives one number per subject, the median of the repeats of its process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from heapwise.model import Experiment, Sample
from heapwise.stats.paired import PairedRatio, paired_ratio
from heapwise.stats.signed_rank import pairs_needed
from heapwise.store import StoredRun

ROUNDS_NEEDED = pairs_needed(0.95)
REPEATS_NOTE = ("fewer than 6 rounds: the interval is over repeats, which share a process and are "
                "not independent; another process may lie outside it")


class Cell(NamedTuple):
    """``parameters`` is canonical JSON, so that a cell can be a key."""

    experiment: str
    parameters: str
    quantity: str


@dataclass
class Series:
    """Numbers in the quantity's unit. ``order`` has the process number of each of ``values``."""

    subject: str
    values: list[float] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    repeats: dict[tuple[int, int], float] = field(default_factory=dict)

    def add(self, sample: Sample, value: float) -> None:
        self.values.append(value)
        self.order.append(sample.process)
        self.repeats[(sample.round, sample.repeat)] = value

    @property
    def rounds(self) -> dict[int, float]:
        """Round -> median of its repeats."""
        groups: dict[int, list[float]] = {}
        for (round_, _), value in self.repeats.items():
            groups.setdefault(round_, []).append(value)
        return {number: float(median(values)) for number, values in sorted(groups.items())}


Table = dict[Cell, dict[str, Series]]


@dataclass(frozen=True)
class Pairs:
    """Two aligned lists, and whether their unit is a ``round`` or a ``repeat``."""

    above: list[float]
    below: list[float]
    keys: list[Any]
    unit: str
    note: str = ""


def parameters_key(parameters: Mapping[str, Any]) -> str:
    return json.dumps(parameters, sort_keys=True, separators=(",", ":"))


def tabulate(samples: Iterable[Sample]) -> Table:
    table: Table = {}
    for sample in samples:
        key = parameters_key(sample.parameters)
        for quantity, value in sample.values.items():
            if value is None or not np.isfinite(value):
                continue
            row = table.setdefault(Cell(sample.experiment, key, quantity), {})
            row.setdefault(sample.subject, Series(sample.subject)).add(sample, float(value))
    return table


def pair(above: Series, below: Series) -> Pairs:
    """By round where at least six rounds are shared; else by repeat, which the note confesses."""
    first, second = above.rounds, below.rounds
    shared = sorted(first.keys() & second.keys())
    repeats = sorted(above.repeats.keys() & below.repeats.keys())
    if len(shared) >= ROUNDS_NEEDED or len(repeats) <= len(shared):
        return Pairs([first[k] for k in shared], [second[k] for k in shared], list(shared), "round")
    return Pairs([above.repeats[k] for k in repeats], [below.repeats[k] for k in repeats],
                 list(repeats), "repeat", REPEATS_NOTE)


def ratio_of(above: Series, below: Series) -> tuple[PairedRatio | None, str]:
    """above / below from their pairs, and a note; None when there is no pair or a zero."""
    pairs = pair(above, below)
    if not pairs.above:
        return None, "no round in which both were measured"
    if min(*pairs.above, *pairs.below) <= 0:
        return None, "no ratio: a value is zero"
    found = paired_ratio(pairs.above, pairs.below)
    return found, "; ".join(note for note in (found.note, pairs.note) if note)


def baseline_of(stored: StoredRun, experiment: Experiment) -> str:
    """The subject that ratios are taken against: the experiment's own, resolved by the runner."""
    names = {subject.name for subject in stored.run.plan.subjects}
    declared = [s.name for s in stored.run.plan.subjects if s.baseline]
    if experiment.baseline in names or not declared:
        return experiment.baseline
    return declared[0]


def control_of(stored: StoredRun, baseline: str) -> str | None:
    """The baseline's second label, or None when the campaign had no A/A pair."""
    controls = [s.name for s in stored.run.plan.subjects if s.control]
    return next((name for name in controls if name.startswith(f"{baseline}-")),
                f"{baseline}-control" if f"{baseline}-control" in controls else None)
