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

TOO_MANY = 0.25
"""A rule that would remove more than a quarter does not find exceptions but the normal state of
this machine: then it removes nothing and its check warns."""


@dataclass(frozen=True)
class Candidate:
    """A sample that may count, with the process that it comes from."""

    sample: Sample
    process: Process

    def spin_change(self) -> float | None:
        """Relative change of the spin, 0.02 is 2 %; the sample's own pair, else the process's."""
        for facts in (self.sample.facts, self.process.facts):
            before, after = facts.get("spin_before_ns"), facts.get("spin_after_ns")
            if before and after:
                return abs(float(after) / float(before) - 1)
        return None

    def steal_share(self) -> float | None:
        return steal_share(self.process)


def steal_share(process: Process) -> float | None:
    """Stolen time over wall time, of one core; None when it was not taken."""
    ticks, wall_s = process.facts.get("steal_ticks"), process.facts.get("wall_s")
    if ticks is None or not wall_s:
        return None
    return float(ticks) * TICK_S / float(wall_s)


def _moved(candidate: Candidate) -> bool:
    return (candidate.spin_change() or 0) > SPIN_CHANGE


def _robbed(candidate: Candidate) -> bool:
    ticks = candidate.process.facts.get("steal_ticks") or 0
    return ticks >= STEAL_TICKS and (candidate.steal_share() or 0) > STEAL_SHARE


RULES: dict[str, Callable[[Candidate], bool]] = {"V12": _moved, "V13": _robbed}


def measured(stored: StoredRun) -> list[Process]:
    """Processes that ended well and are neither warm-up nor the untimed counting ones."""
    return [p for p in stored.processes if p.status == "ok" and timed(p)]


def timed(process: Process) -> bool:
    return not process.warm_up and not process.facts.get("counting")


def candidates(stored: StoredRun) -> list[Candidate]:
    """Samples that may count, before the rules, in the order in which they were taken."""
    processes = {p.number: p for p in measured(stored)}
    return [Candidate(s, processes[s.process]) for s in stored.samples
            if not s.warm_up and s.process in processes]


@dataclass(frozen=True)
class Sieve:
    """What the rules did. ``struck``: samples that a rule hits; ``removed``: those it took out."""

    kept: list[Sample]
    of: int
    struck: dict[str, int]
    removed: dict[str, int]


def sieve(stored: StoredRun) -> Sieve:
    found = candidates(stored)
    struck = {rule: [strikes(c) for c in found] for rule, strikes in RULES.items()}
    active = [rule for rule, marks in struck.items() if sum(marks) <= TOO_MANY * len(found)]
    kept, removed = [], dict.fromkeys(RULES, 0)
    for place, candidate in enumerate(found):
        by = next((rule for rule in active if struck[rule][place]), None)
        if by is None:
            kept.append(candidate.sample)
        else:
            removed[by] += 1
    return Sieve(kept, len(found), {rule: sum(marks) for rule, marks in struck.items()}, removed)


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
