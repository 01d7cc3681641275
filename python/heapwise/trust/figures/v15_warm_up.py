"""Was the warm-up long enough?

The first process reads files from a disk, and the first repeat writes to its memory for the first
time. Rounds of warm-up and dropped repeats are not part of the figures. The check looks whether the
figures after the warm-up are steady.
If it warns: use more --warmup. If the first process took far longer than all others, the program
keeps something that saves later processes work, such as a cache: start each process in the same
state.
"""

from __future__ import annotations

import math

import numpy as np

from heapwise.evidence import Evidence
from heapwise.model import Check, Process, Sample
from heapwise.trust.applies import Applies, programs
from heapwise.wording.numbers import percent

ID, TITLE = "V15", "Everything was warm"

MATTERS = 0.01
"""A beginning that is less than 1 % off is within what intervals allow for."""

FAR, FEW_FAR = 6.0, 4.0
"""The least distance of the first value (FAR), or of each of the first values (FEW_FAR), in
standard deviations of the steady part. On a quiet machine one value in millions is that far off."""

LEAST = 6
"""Positions that count, below which a change of the beginning cannot be told."""

SPARED, SPARED_S = 10.0, 0.5
"""The first process took ten times as long as the others, and at least half a second more."""


def _of_programs(evidence: Evidence) -> Check:
    return _judged(evidence, _spared(evidence))


def _of_experiments(evidence: Evidence) -> Check:
    return _judged(evidence, 0.0)


def _judged(evidence: Evidence, spared: float) -> Check:
    """spared: as ``_spared`` has it."""
    cold, kept = _curve(evidence)
    faults = _major_faults(evidence)
    figures = {
        "cold": [math.expm1(value) for value in cold],
        "major_faults": faults,
        "counted": [math.expm1(value) for value in kept],
        "first_process_times": spared,
    }
    unit = evidence.stored.run.plan.traits.repeated
    if spared:
        return Check(
            ID,
            TITLE,
            "warn",
            f"The first process took {spared:,.0f} times as long as "
            "later ones: it may leave something behind that spares them the work.",
            figures,
        )
    if len(kept) < LEAST:
        return Check(
            ID,
            TITLE,
            "unavailable",
            f"Fewer than {LEAST} {unit}s count: a change at the "
            "beginning cannot be told from chance.",
            figures,
        )
    late = late_start(kept)
    if late:
        first = math.expm1(float(np.median(kept[:late])))
        which = f"{unit} that counts" if late == 1 else f"{late} {unit}s that count"
        return Check(
            ID,
            TITLE,
            "warn",
            f"The first {which} took {percent(abs(first))} "
            f"{'more' if first > 0 else 'less'} than the others: something may not have "
            "been warm yet.",
            figures | {"late": late},
        )
    words = "Steady from the first that counts"
    if cold:
        change = math.expm1(cold[0])
        words += (
            f"; the very first {unit}, which does not count, took {percent(abs(change))} "
            f"{'more' if change > 0 else 'less'}"
        )
    return Check(ID, TITLE, "pass", f"{words}; {_cache(faults)}.", figures)


def late_start(values: list[float]) -> int:
    """How many of the first values are not like the others; 0 for none. At most a third.

    All of them lie on one side of the others, and far from them for how the others scatter.
    """
    for number in range(len(values) // 3, 0, -1):
        first, rest = values[:number], values[number:]
        centre = float(np.median(rest))
        spread = 1.4826 * float(np.median(np.abs(np.array(rest) - centre)))
        away = min(abs(value - centre) for value in first)
        apart = min(first) > max(rest) or max(first) < min(rest)
        if apart and away > max(MATTERS, (FAR if number == 1 else FEW_FAR) * spread):
            return number
    return 0


def _curve(evidence: Evidence) -> tuple[list[float], list[float]]:
    """Logs of how the time compares with the usual one, in warm-up and in what counts.

    One for each round of a comparison, or for each repeat within a process of an experiment: the
    median over all subjects and processes.
    """
    stored = evidence.stored
    compare = stored.run.plan.traits.repeated == "round"
    firsts = {e.id: e.quantities[0].name for e in stored.run.experiments}
    ended = {p.number for p in stored.processes if p.status == "ok"}
    groups: dict[object, list[Sample]] = {}
    for sample in stored.samples:
        if sample.process in ended:
            groups.setdefault(sample.subject if compare else sample.process, []).append(sample)
    logs: dict[bool, dict[int, list[float]]] = {True: {}, False: {}}
    for samples in groups.values():
        values = [(s, s.values.get(firsts.get(s.experiment, ""), 0.0)) for s in samples]
        steady = [value for s, value in values if not s.warm_up and value > 0]
        for sample, value in values:
            if steady and value > 0:
                place = sample.round if compare else sample.repeat
                logs[sample.warm_up].setdefault(place, []).append(
                    math.log(value / float(np.median(steady)))
                )
    cold, kept = (
        [float(np.median(found)) for _, found in sorted(logs[warm].items())]
        for warm in (True, False)
    )
    return cold, kept


def _spared(evidence: Evidence) -> float:
    """How many times as long as the median the first process of all took; 0 if that is usual."""
    walls = [
        p.facts.wall_s
        for p in evidence.stored.processes
        if p.status == "ok" and p.facts.wall_s and not p.facts.counting
    ]
    if len(walls) < 2:
        return 0.0
    usual = float(np.median(walls[1:]))
    return walls[0] / usual if walls[0] > max(SPARED * usual, usual + SPARED_S) else 0.0


def _major_faults(evidence: Evidence) -> dict[str, float | None]:
    """Pages read from a disk by a process: in warm-up, and in what counts, the median."""

    def median(processes: list[Process]) -> float | None:
        found = [p.facts.major_faults for p in processes if p.facts.major_faults is not None]
        return float(np.median(found)) if found else None

    ended = [p for p in evidence.stored.processes if p.status == "ok" and not p.facts.counting]
    return {
        "warm_up": median([p for p in ended if p.warm_up]),
        "counted": median([p for p in ended if not p.warm_up]),
    }


def _cache(faults: dict[str, float | None]) -> str:
    counted_faults = faults["counted"]
    if counted_faults is None:
        return "whether files were in the page cache is not on record"
    if counted_faults >= 1:
        return f"each process still reads {counted_faults:,.0f} pages from a disk"
    return "files are in the page cache: no process that counts reads a page from a disk"


check = Applies(ID, TITLE, programs, _of_programs, others=_of_experiments)
