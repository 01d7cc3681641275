"""Counts of a subject beside those of the baseline: calls of malloc, and instructions."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.evidence.demand import allowed_difference, counted_processes
from heapwise.evidence.kept import measured
from heapwise.evidence.series import Pairs, pair
from heapwise.model import Process, Setup
from heapwise.store import StoredRun
from heapwise.wording.metrics import OF_COUNTS


@dataclass(frozen=True)
class CountPair:
    """What one process of each counted. allowed: the largest difference that is called none."""

    metric: str
    base: int
    new: int
    allowed: float

    @property
    def differs(self) -> bool:
        return abs(self.new - self.base) > self.allowed


def count_pairs(
    stored: StoredRun, setup: Setup, labels: tuple[str, str], subject: str
) -> list[CountPair]:
    """What the counting probe counted in both. labels: the baseline and its control. Empty if
    either was not counted, or if both are one build: then V8 compares their calls."""
    counted = counted_processes(stored, setup)
    plan, (baseline, control) = stored.run.plan, labels
    names = {name for name in (baseline, subject) if name in counted}
    if len({plan.build_of(name).name for name in names}) < 2:
        return []
    found = []
    for metric in OF_COUNTS.values():
        if metric.count is None or not metric.of_malloc:
            continue
        base, new, again = (
            metric.count(counted[name].facts) if name in counted else None
            for name in (baseline, subject, control)
        )
        if base is not None and new is not None:
            spread = abs(again / base - 1) if base and again is not None else 0.0
            found.append(CountPair(metric.name, base, new, allowed_difference(base, spread)))
    return found


def instruction_pairs(stored: StoredRun, setup: Setup, above: str, below: str) -> Pairs:
    """The instructions that the processor counted in each round; empty without its counters."""
    found: dict[str, dict[int, float]] = {above: {}, below: {}}
    for process in measured(stored):
        number = _instructions(process)
        if process.setup == setup and process.subject in found and number is not None:
            found[process.subject][process.round] = number
    return pair(found[above], found[below])


def _instructions(process: Process) -> float | None:
    """None if the counter ran during a part of the process: then its value is an estimate."""
    return next(
        (
            float(counter.value)
            for counter in process.facts.counters or ()
            if counter.name == "instructions" and counter.running_ns >= counter.enabled_ns
        ),
        None,
    )
