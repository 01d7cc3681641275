"""Processes that are not timed: the calls that arrive at malloc are counted in them (V3, V4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heapwise.model import Experiment, Plan
from heapwise.runner.steps import Step, cells, subjects_of

COUNTING_ROUND = -1


def counting_steps(plan: Plan, experiments: Sequence[Experiment]) -> list[Step]:
    """One for each subject that goes through malloc, in the experiment's first cell.

    The system's malloc stands for all peers where it is there: a call that the compiler removed
    is missing in the binary, whichever library would have answered it.
    """
    found: list[Step] = []
    for experiment in experiments:
        if experiment.is_of_programs:  # they count their own work, and print it
            continue
        cell = cells(experiment, plan)[0]
        through_malloc = sorted(
            (s for s in subjects_of(experiment, plan) if s.peer is not None and not s.control),
            key=lambda subject: bool(subject.peer and subject.peer.path),
        )
        first = {subject.parts.inner: subject for subject in reversed(through_malloc)}
        found += [
            Step(experiment, subject, cell, COUNTING_ROUND, warm_up=True)
            for subject in first.values()
        ]
    return found


def totals(counts: list[dict[str, Any]]) -> dict[str, Any]:
    """The counting probe's lines of all processes of the tree, added up."""
    if not counts:
        return {}
    calls: dict[str, int] = {}
    for line in counts:
        for name, number in line.get("calls", {}).items():
            calls[name] = calls.get(name, 0) + int(number)
    longest = max(float(line.get("wall_s") or 0) for line in counts)
    sizes = [line["sizes"] for line in counts if isinstance(line.get("sizes"), list)]
    return {
        "calls": calls, "counted_wall_s": longest,
        "bytes_requested": sum(int(line.get("bytes_requested") or 0) for line in counts),
        "sizes": [sum(column) for column in zip(*sizes, strict=False)],
    }
