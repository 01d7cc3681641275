"""Which samples count. The rules were stated before anything was measured (docs/methods.md).

Never removed: a sample for its own value. Removed: warm-up, processes that did not end well, and
samples during which the machine was demonstrably not ours (``RULES``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import sqrt

from heapwise.evidence.breadth import processor_of, references_of
from heapwise.model import Process, Sample, Setup
from heapwise.model.peak_reach import without_peaks_beside
from heapwise.store import StoredRun

SPIN_CHANGE = 0.02
"""A calibrated spin that takes 2 % more or less after a sample than before it: the clock moved."""

STEAL_SHARE = 0.02
STEAL_TICKS = 2
"""The hypervisor took 2 % of the process's time; one tick of 10 ms alone is rounding."""

TICK_S = 0.01

CROWD = 0.03
"""Chains side by side that take 3 % more around a sample than they usually do on a core that nobody
shares: somebody else ran on the other hardware thread of the core (evidence/breadth.py)."""

ENOUGH = 0.5
"""Samples of a shared core go where each subject of the cell has others in half of its rounds: for
virtual machines neighbours are usual, so the limit of the other rules would help nobody."""

TOO_MANY = 0.25
"""A rule that would remove more than a quarter does not find exceptions but the normal state of
this machine: then it removes nothing and its check warns. So do rules that would remove that many
together."""


MANY = 0.1
"""A rule that removed more than a tenth of the samples warns: the run has fewer than it seems."""


@dataclass(frozen=True)
class Candidate:
    """A sample that may count, with the process that it comes from."""

    sample: Sample
    process: Process
    usual_breadth_ns: float = 0.0
    """On its processor, while nobody shares the core; 0 where none was taken."""

    after_counts: bool = True
    """Whether the look after the sample counts: not if only this subject is crowded then, since
    what it still does in the background is its own cost."""

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
        facts = self.sample.facts
        looks = (facts.breadth_before_ns, facts.breadth_after_ns if self.after_counts else None)
        found = [float(took) for took in looks if took]
        return max(found) / self.usual_breadth_ns - 1 if found else None


def steal_share(process: Process) -> float | None:
    """Stolen time over wall time, of one core; None when it was not taken."""
    ticks, wall_s = process.facts.steal_ticks, process.facts.wall_s
    if ticks is None or not wall_s:
        return None
    return ticks * TICK_S / wall_s


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
    if sum(struck) > TOO_MANY * len(found):
        return [False] * len(found)
    return _where_left(found, struck, least_share=0)


def _where_enough_is_left(found: list[Candidate], struck: Marks) -> Marks:
    return _where_left(found, struck, least_share=ENOUGH)


def _where_left(found: list[Candidate], struck: Marks, least_share: float) -> Marks:
    """Spares the cells in which a subject would keep samples of no round, or of fewer than this
    share of its rounds."""
    rounds: dict[tuple[Setup, str], set[int]] = {}
    left: dict[tuple[Setup, str], set[int]] = {}
    for candidate, hit in zip(found, struck, strict=True):
        row = candidate.setup, candidate.sample.subject
        rounds.setdefault(row, set()).add(candidate.sample.round)
        if not hit:
            left.setdefault(row, set()).add(candidate.sample.round)
    spared = {
        row[0]
        for row, all_ in rounds.items()
        if len(left.get(row, ())) < max(1, least_share * len(all_))
    }
    return [
        hit and candidate.setup not in spared for candidate, hit in zip(found, struck, strict=True)
    ]


@dataclass(frozen=True)
class Rule:
    """``strikes``: whether a sample is hit; ``limit``: which of those that are hit are left out."""

    strikes: Callable[[Candidate], bool]
    limit: Callable[[list[Candidate], Marks], Marks]


RULES = {
    "V12": Rule(_moved, _exceptions),
    "V13": Rule(_robbed, _exceptions),
    "V26": Rule(_crowded, _where_enough_is_left),
}


def measured(stored: StoredRun) -> list[Process]:
    """Processes that ended well and are neither warm-up nor the untimed counting ones."""
    return [p for p in stored.processes if p.status == "ok" and timed(p)]


def timed(process: Process) -> bool:
    """Whether it ran for its times, by itself."""
    return not process.warm_up and not process.facts.counting and process.facts.beside is None


def written_elsewhere(stored: StoredRun) -> float | None:
    """Bytes that the process that wrote most wrote to anything but its output. None: the kernel did
    not say, or nothing was measured."""
    found = [process.facts.written_elsewhere_bytes for process in measured(stored)]
    return max((each for each in found if each is not None), default=None)


def together(stored: StoredRun) -> list[Sample]:
    """Samples of subjects that ran beside the baseline. The rules do not apply to them: whatever
    disturbed one of the two disturbed the other."""
    ended = {p.number for p in stored.processes if p.status == "ok" and p.facts.beside is not None}
    found = [s for s in stored.samples if s.process in ended and not s.warm_up]
    return without_peaks_beside(found, stored.processes)


def candidates(stored: StoredRun) -> list[Candidate]:
    """Samples that may count, before the rules, in the order in which they were taken."""
    processes = {p.number: p for p in measured(stored)}
    usual = references_of(stored.samples)
    found = [
        Candidate(s, processes[s.process], usual.of(processor_of(s)))
        for s in stored.samples
        if not s.warm_up and s.process in processes
    ]
    busy = _busy_afterwards(
        found, {s.name for s in stored.run.plan.subjects if s.baseline or s.control}
    )
    return [
        replace(c, after_counts=False) if (c.setup, c.sample.subject) in busy else c for c in found
    ]


def _busy_afterwards(found: list[Candidate], labels: set[str]) -> set[tuple[Setup, str]]:
    """Subjects of a cell after which the core is shared more often than after the baseline, by more
    than two standard errors: it is they who share it. All, where there is no baseline."""
    hits: dict[tuple[Setup, str], list[bool]] = {}
    for candidate in found:
        after = candidate.sample.facts.breadth_after_ns
        if after:
            subject = "" if candidate.sample.subject in labels else candidate.sample.subject
            hits.setdefault((candidate.setup, subject), []).append(
                after / candidate.usual_breadth_ns - 1 > CROWD
            )
    busy = set()
    for (setup, subject), mine in hits.items():
        base = hits.get((setup, ""), [])
        share = (sum(mine) + sum(base)) / (len(mine) + len(base))
        allowed = 2 * sqrt(share * (1 - share) * (1 / len(mine) + 1 / max(1, len(base))))
        if subject and (not base or sum(mine) / len(mine) > sum(base) / len(base) + allowed):
            busy.add((setup, subject))
    return busy


@dataclass(frozen=True)
class FilteredSamples:
    """What the rules did. ``struck``: samples that a rule hits; ``removed``: those it took out;
    ``spared``: cells with samples that it hits and had to leave. ``sound``: of those kept, without
    the ones that count only because their cell has no others; more rounds may replace these.
    ``joint``: rules that took nothing out, because they hit too many samples together."""

    kept: list[Sample]
    sound: list[Sample]
    total: int
    struck: dict[str, int]
    removed: dict[str, int]
    spared: dict[str, int]
    joint: set[str] = field(default_factory=set)


def filter_samples(found: list[Candidate]) -> FilteredSamples:
    """What the rules leave of all samples that may count."""
    struck = {name: [rule.strikes(c) for c in found] for name, rule in RULES.items()}
    out = {name: rule.limit(found, struck[name]) for name, rule in RULES.items()}
    joint = _too_many_together(struck)
    for name in joint:
        out[name] = [False] * len(found)
    # One rule may take out what another one left.
    by_all = _where_left(found, list(map(any, zip(*out.values(), strict=True))), 0)
    out = {
        name: [hit and excluded for hit, excluded in zip(marks, by_all, strict=True)]
        for name, marks in out.items()
    }
    kept, sound, removed = [], [], dict.fromkeys(RULES, 0)
    rare = [
        marks
        for name, marks in struck.items()
        if RULES[name].limit is _exceptions
        and sum(marks) <= TOO_MANY * len(found)
        and name not in joint
    ]
    for place, candidate in enumerate(found):
        by = next((name for name in RULES if out[name][place]), None)
        if by is not None:
            removed[by] += 1
            continue
        kept.append(candidate.sample)
        if not any(marks[place] for marks in rare):
            sound.append(candidate.sample)
    spared = {
        name: len(
            {
                c.setup
                for c, hit, excluded in zip(found, struck[name], out[name], strict=True)
                if hit and not excluded
            }
        )
        for name in RULES
    }
    return FilteredSamples(
        kept,
        sound,
        len(found),
        {name: sum(marks) for name, marks in struck.items()},
        removed,
        spared,
        joint,
    )


def _too_many_together(struck: dict[str, Marks]) -> set[str]:
    """The rules of exceptions that each hit few samples, and together too many."""
    few = {
        name: marks
        for name, marks in struck.items()
        if RULES[name].limit is _exceptions and 0 < sum(marks) <= TOO_MANY * len(marks)
    }
    hits = sum(map(any, zip(*few.values(), strict=True)))
    total = max(map(len, few.values()), default=0)
    return set(few) if hits > TOO_MANY * total else set()


def planted(process: Process) -> float:
    """Nanoseconds that were added to every operation to see whether they are found; else 0."""
    start = process.facts.start
    return (start.plant_ns if start else None) or 0.0
