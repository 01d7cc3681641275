"""Which samples count. The rules were stated before anything was measured (docs/methods.md).

Never removed: a sample for its own value. Removed: warm-up, processes that did not end well, and
samples during which the machine was demonstrably not ours (``RULES``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heapwise.model import Process, Sample
from heapwise.store import StoredRun

SPIN_CHANGE = 0.02
"""A calibrated spin that takes 2 % more or less after a sample than before it: the clock moved."""

STEAL_SHARE = 0.02
STEAL_TICKS = 2
"""The hypervisor took 2 % of the process's time; one tick of 10 ms alone is rounding."""

TICK_S = 0.01

CROWD = 0.03
"""Chains side by side that take 3 % more, before or after a sample, than at best in the whole run:
somebody else ran on the other hardware thread of the core (bench/kernel/breadth.hpp)."""

ENOUGH = 0.5
"""Samples of a shared core go where each subject of the cell has others in half of its rounds: for
virtual machines neighbours are no exception, so the limit of the other rules would help nobody."""

TOO_MANY = 0.25
"""A rule that would remove more than a quarter does not find exceptions but the normal state of
this machine: then it removes nothing and its check warns."""


@dataclass(frozen=True)
class Candidate:
    """A sample that may count, with the process that it comes from."""

    sample: Sample
    process: Process
    least_breadth_ns: float = 0.0
    """Of all samples of the run; 0 where none was taken."""

    def spin_change(self) -> float | None:
        """Relative change of the spin, 0.02 is 2 %; the sample's own pair, else the process's."""
        for facts in (self.sample.facts, self.process.facts):
            before, after = facts.get("spin_before_ns"), facts.get("spin_after_ns")
            if before and after:
                return abs(float(after) / float(before) - 1)
        return None

    def steal_share(self) -> float | None:
        return steal_share(self.process)

    def crowd(self) -> float | None:
        """How much longer chains side by side took, 0.03 is 3 %; None where nothing is known."""
        found = breadths(self.sample)
        return max(found) / self.least_breadth_ns - 1 if found else None


def steal_share(process: Process) -> float | None:
    """Stolen time over wall time, of one core; None when it was not taken."""
    ticks, wall_s = process.facts.get("steal_ticks"), process.facts.get("wall_s")
    if ticks is None or not wall_s:
        return None
    return float(ticks) * TICK_S / float(wall_s)


def breadths(sample: Sample) -> list[float]:
    """Nanoseconds; none, or before and after."""
    names = ("breadth_before_ns", "breadth_after_ns")
    return [float(sample.facts[name]) for name in names if sample.facts.get(name)]


def _moved(candidate: Candidate) -> bool:
    return (candidate.spin_change() or 0) > SPIN_CHANGE


def _robbed(candidate: Candidate) -> bool:
    ticks = candidate.process.facts.get("steal_ticks") or 0
    return ticks >= STEAL_TICKS and (candidate.steal_share() or 0) > STEAL_SHARE


def _crowded(candidate: Candidate) -> bool:
    return (candidate.crowd() or 0) > CROWD


RULES: dict[str, Callable[[Candidate], bool]] = {
    "V12": _moved, "V13": _robbed, "V26": _crowded}


def measured(stored: StoredRun) -> list[Process]:
    """Processes that ended well and are neither warm-up nor the untimed counting ones."""
    return [p for p in stored.processes if p.status == "ok" and timed(p)]


def timed(process: Process) -> bool:
    return not process.warm_up and not process.facts.get("counting")


def candidates(stored: StoredRun) -> list[Candidate]:
    """Samples that may count, before the rules, in the order in which they were taken."""
    processes = {p.number: p for p in measured(stored)}
    least = min((b for s in stored.samples for b in breadths(s)), default=0.0)
    return [Candidate(s, processes[s.process], least) for s in stored.samples
            if not s.warm_up and s.process in processes]


@dataclass(frozen=True)
class Sieve:
    """What the rules did. ``struck``: samples that a rule hits; ``removed``: those it took out.
    ``spared``: cells that V26 left as they are."""

    kept: list[Sample]
    of: int
    struck: dict[str, int]
    removed: dict[str, int]
    spared: int


def sieve(stored: StoredRun) -> Sieve:
    found = candidates(stored)
    struck = {rule: [strikes(c) for c in found] for rule, strikes in RULES.items()}
    spared = _spared(found, struck["V26"])
    active = [rule for rule, marks in struck.items()
              if rule == "V26" or sum(marks) <= TOO_MANY * len(found)]
    kept, removed = [], dict.fromkeys(RULES, 0)
    for place, candidate in enumerate(found):
        by = next((rule for rule in active if struck[rule][place]), None)
        if by is None or (by == "V26" and cell_of(candidate.sample) in spared):
            kept.append(candidate.sample)
        else:
            removed[by] += 1
    return Sieve(kept, len(found), {rule: sum(marks) for rule, marks in struck.items()}, removed,
                 len(spared))


def cell_of(sample: Sample) -> tuple[str, str]:
    return sample.experiment, repr(sorted(sample.parameters.items()))


def _spared(found: list[Candidate], crowded: list[bool]) -> set[tuple[str, str]]:
    """Cells in which some subject would have too little left."""
    rounds: dict[tuple[tuple[str, str], str], set[int]] = {}
    quiet: dict[tuple[tuple[str, str], str], set[int]] = {}
    for candidate, struck in zip(found, crowded, strict=True):
        sample = candidate.sample
        row = cell_of(sample), sample.subject
        rounds.setdefault(row, set()).add(sample.round)
        if not struck:
            quiet.setdefault(row, set()).add(sample.round)
    return {row[0] for row, all_ in rounds.items()
            if len(quiet.get(row, ())) < ENOUGH * len(all_)}


def planted(process: Process) -> float:
    """Nanoseconds that were added to every operation to see whether they are found; else 0."""
    return float(recorded(process, "plant_ns") or 0.0)


def recorded(process: Process, name: str) -> Any:
    """A fact of the process: of the launcher's, or of the line that the experiment began with."""
    if name in process.facts:
        return process.facts[name]
    for part in ("start", "end"):
        inner = process.facts.get(part)
        if isinstance(inner, dict) and name in inner:
            return inner[name]
    return None
