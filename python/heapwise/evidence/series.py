"""The kept numbers of a run, arranged: what one subject yielded in one cell for one quantity.

The process is the unit that is independent of others: repeats inside one share its memory layout.
So a round gives one number per subject, the median of the repeats of its process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median

import numpy as np

from heapwise.model import Cell, Experiment, Sample, Settings, control_name
from heapwise.stats.ratios.paired import PairedRatio, paired_ratio
from heapwise.store import StoredRun

Side = tuple[Cell, str]
"""A cell and one of its subjects."""


@dataclass
class Series:
    """Numbers in the quantity's unit. ``order`` has the process number of each of ``values``.

    Filled by ``tabulate``, and not changed afterwards.
    """

    subject: str
    values: list[float] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    repeats: dict[tuple[int, int], float] = field(default_factory=dict)

    def add(self, sample: Sample, value: float) -> None:
        self.values.append(value)
        self.order.append(sample.process)
        self.repeats[(sample.round, sample.repeat)] = value

    @cached_property
    def median(self) -> float:
        return float(median(self.values))

    @cached_property
    def rounds(self) -> dict[int, float]:
        """Round -> median of its repeats: the numbers that are independent of each other."""
        groups: dict[int, list[float]] = {}
        for (round_, _), value in self.repeats.items():
            groups.setdefault(round_, []).append(value)
        return {number: float(median(values)) for number, values in sorted(groups.items())}

    @cached_property
    def middle(self) -> float:
        """Median of the rounds: what decides, where one number has to."""
        return float(median(self.rounds.values()))


Table = dict[Cell, dict[str, Series]]


@dataclass(frozen=True)
class Pairs:
    """Two aligned lists, one number of each for every round that both were measured in."""

    above: list[float]
    below: list[float]
    rounds: list[int]

    @property
    def has_ratio(self) -> bool:
        """Whether there is a pair, and every number is above zero."""
        return bool(self.above) and min(*self.above, *self.below) > 0

    def ratio(self) -> tuple[PairedRatio | None, str]:
        """above / below with its interval, and a note; None without a pair or with a zero."""
        if not self.above:
            return None, "no round in which both were measured"
        if not self.has_ratio:
            return None, "no ratio: a value is zero"
        found = paired_ratio(self.above, self.below)
        return found, found.note


def tabulate(samples: Iterable[Sample]) -> Table:
    rows: dict[tuple[str, Settings, str], dict[str, Series]] = {}
    for sample in samples:
        experiment, parameters = sample.setup
        for quantity, value in sample.values.items():
            if value is None or not np.isfinite(value):
                continue
            row = rows.setdefault((experiment, parameters, quantity), {})
            row.setdefault(sample.subject, Series(sample.subject)).add(sample, float(value))
    return {Cell(*key): row for key, row in rows.items()}


def pair(above: Mapping[int, float], below: Mapping[int, float]) -> Pairs:
    """By round. Repeats are never paired: they share a process with its layout of memory."""
    shared = sorted(above.keys() & below.keys())
    return Pairs([above[k] for k in shared], [below[k] for k in shared], shared)


def by_layout(pairs: Pairs, layouts: int) -> Pairs:
    """One pair for each layout of builds that were linked again: rounds of one layout share its
    luck. The geometric means of its rounds, at its first round. layouts: 0 for builds that have one
    layout, of which each round is a pair."""
    if not layouts or not pairs.has_ratio:
        return pairs
    groups: dict[int, list[int]] = {}
    for place, number in enumerate(pairs.rounds):
        groups.setdefault(number % layouts, []).append(place)
    above, below = (
        [
            float(np.exp(np.mean([np.log(values[place]) for place in group])))
            for group in groups.values()
        ]
        for values in (pairs.above, pairs.below)
    )
    return Pairs(above, below, [pairs.rounds[group[0]] for group in groups.values()])


def baseline_of(stored: StoredRun, experiment: Experiment) -> str:
    """The subject that ratios are taken against: the experiment's own, resolved by the runner."""
    names = {subject.name for subject in stored.run.plan.subjects}
    declared = [s.name for s in stored.run.plan.subjects if s.baseline]
    if experiment.baseline in names or not declared:
        return experiment.baseline
    return declared[0]


def control_of(stored: StoredRun, baseline: str) -> str | None:
    """The baseline's second label, or None when the campaign had no A/A pair."""
    name = control_name(baseline)
    return next((s.name for s in stored.run.plan.subjects if s.control and s.name == name), None)
