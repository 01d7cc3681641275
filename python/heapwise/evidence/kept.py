"""Which samples count. The rules were stated before anything was measured (docs/methods.md).

Never removed: a sample for its own value. Removed: warm-up, processes that did not end well, and
samples during which the machine was demonstrably not ours (``RULES``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heapwise.model import Process, Sample, Setup
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
            before, after = facts.spin_before_ns, facts.spin_after_ns
            if before and after:
                return abs(after / before - 1)
        return None

    @property
    def setup(self) -> Setup:
        return self.process.setup

    def steal_share(self) -> float | None:
        return steal_share(self.process)

    def crowd(self) -> float | None:
        """How much longer chains side by side took, 0.03 is 3 %; None where nothing is known."""
        found = breadths(self.sample)
        return max(found) / self.least_breadth_ns - 1 if found else None


def steal_share(process: Process) -> float | None:
    """Stolen time over wall time, of one core; None when it was not taken."""
    ticks, wall_s = process.facts.steal_ticks, process.facts.wall_s
    if ticks is None or not wall_s:
        return None
    return ticks * TICK_S / wall_s


def breadths(sample: Sample) -> list[float]:
    """Nanoseconds; none, or before and after."""
    found = sample.facts.breadth_before_ns, sample.facts.breadth_after_ns
    return [float(breadth_ns) for breadth_ns in found if breadth_ns]


def _moved(candidate: Candidate) -> bool:
    return (candidate.spin_change() or 0) > SPIN_CHANGE


def _robbed(candidate: Candidate) -> bool:
    ticks = candidate.process.facts.steal_ticks or 0
    return ticks >= STEAL_TICKS and (candidate.steal_share() or 0) > STEAL_SHARE


def _crowded(candidate: Candidate) -> bool:
    return (candidate.crowd() or 0) > CROWD


Marks = list[bool]
"""One for each candidate."""


def _exceptions(found: list[Candidate], struck: Marks) -> Marks:
    return struck if sum(struck) <= TOO_MANY * len(found) else [False] * len(found)


def _where_enough_is_left(found: list[Candidate], struck: Marks) -> Marks:
    rounds: dict[tuple[Setup, str], set[int]] = {}
    left: dict[tuple[Setup, str], set[int]] = {}
    for candidate, hit in zip(found, struck, strict=True):
        row = candidate.setup, candidate.sample.subject
        rounds.setdefault(row, set()).add(candidate.sample.round)
        if not hit:
            left.setdefault(row, set()).add(candidate.sample.round)
    spared = {row[0] for row, all_ in rounds.items() if len(left.get(row, ())) < ENOUGH * len(all_)}
    return [hit and candidate.setup not in spared
            for candidate, hit in zip(found, struck, strict=True)]


@dataclass(frozen=True)
class Rule:
    """``strikes``: whether a sample is hit; ``limit``: which of those that are hit are left out."""

    strikes: Callable[[Candidate], bool]
    limit: Callable[[list[Candidate], Marks], Marks]


RULES = {"V12": Rule(_moved, _exceptions), "V13": Rule(_robbed, _exceptions),
         "V26": Rule(_crowded, _where_enough_is_left)}


def measured(stored: StoredRun) -> list[Process]:
    """Processes that ended well and are neither warm-up nor the untimed counting ones."""
    return [p for p in stored.processes if p.status == "ok" and timed(p)]


def timed(process: Process) -> bool:
    return not process.warm_up and not process.facts.counting


def candidates(stored: StoredRun) -> list[Candidate]:
    """Samples that may count, before the rules, in the order in which they were taken."""
    processes = {p.number: p for p in measured(stored)}
    least = min((b for s in stored.samples for b in breadths(s)), default=0.0)
    return [Candidate(s, processes[s.process], least) for s in stored.samples
            if not s.warm_up and s.process in processes]


@dataclass(frozen=True)
class Sieve:
    """What the rules did. ``struck``: samples that a rule hits; ``removed``: those it took out;
    ``spared``: cells with samples that it hits and had to leave."""

    kept: list[Sample]
    of: int
    struck: dict[str, int]
    removed: dict[str, int]
    spared: dict[str, int]


def sieve(found: list[Candidate]) -> Sieve:
    """What the rules leave of all samples that may count."""
    struck = {name: [rule.strikes(c) for c in found] for name, rule in RULES.items()}
    out = {name: rule.limit(found, struck[name]) for name, rule in RULES.items()}
    kept, removed = [], dict.fromkeys(RULES, 0)
    for place, candidate in enumerate(found):
        by = next((name for name in RULES if out[name][place]), None)
        if by is None:
            kept.append(candidate.sample)
        else:
            removed[by] += 1
    spared = {name: len({c.setup for c, hit, gone in
                         zip(found, struck[name], out[name], strict=True) if hit and not gone})
              for name in RULES}
    return Sieve(kept, len(found), {name: sum(marks) for name, marks in struck.items()}, removed,
                 spared)


def planted(process: Process) -> float:
    """Nanoseconds that were added to every operation to see whether they are found; else 0."""
    start = process.facts.start
    return (start.plant_ns if start else None) or 0.0
