"""Does a program run for a fixed time? Then its time says nothing of how much it does in it."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING

from heapwise.evidence.demand import counted_processes
from heapwise.evidence.kept import measured
from heapwise.model import Setup
from heapwise.wording.numbers import percent

if TYPE_CHECKING:
    from heapwise.evidence.evidence import Evidence

UNEQUAL = 0.05
"""Two counts of one build that are farther apart: it does not do the same work each time."""

UNEQUAL_SUBJECTS = 0.2
"""Two subjects whose counts are farther apart do other work, if they end after the same time."""

LEAST_CALLS = 1000

ROUND_TIMES = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
CLOSE = 0.03
"""A program with a timer of 0.2 s ends a little after it, and never before."""


def fixed_time(evidence: Evidence, setup: Setup) -> str:
    """Why the program of a comparison may run for a fixed time in this setup; "" for no reason.

    Either two counts of the calls of one build differ, or subjects that make very different numbers
    of calls all end just after the same round time.
    """
    stored = evidence.stored
    if not stored.run.plan.traits.whole_programs:
        return ""
    calls = {
        name: process.facts.calls.requests
        for name, process in counted_processes(stored, setup).items()
        if process.facts.calls
    }
    labels = [calls[name] for name in evidence.labels if name in calls]
    if len(labels) == 2 and min(labels) >= LEAST_CALLS and _apart(labels) > UNEQUAL:
        return (
            f"two counts of the calls of {evidence.labels[0]} differ by {percent(_apart(labels))}"
        )
    all_counts = list(calls.values())
    if min(all_counts, default=0) < LEAST_CALLS or _apart(all_counts) <= UNEQUAL_SUBJECTS:
        return ""
    time = _timer(evidence, setup)
    return (
        (
            f"all end just after {time}, and their calls of malloc differ by "
            f"{percent(_apart(all_counts))}"
        )
        if time
        else ""
    )


def _apart(counts: list[int]) -> float:
    return max(counts) / min(counts) - 1


def _timer(evidence: Evidence, setup: Setup) -> str:
    """The round time that no process ends before, and each soonest process just after."""
    soonest: dict[str, float] = {}
    for process in measured(evidence.stored):
        if process.setup == setup and process.facts.wall_s:
            took_s = float(process.facts.wall_s)
            soonest[process.subject] = min(took_s, soonest.get(process.subject, took_s))
    if not soonest:
        return ""
    scale = 10.0 ** floor(log10(min(soonest.values())))
    for step in ROUND_TIMES:
        if all(step * scale <= took_s <= step * scale * (1 + CLOSE) for took_s in soonest.values()):
            return f"{step * scale:g} s"
    return ""
