"""Whether the rest of a comparison is measured side by side with the baseline."""

from __future__ import annotations

from math import sqrt

from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.model import Plan

EARLY = 3
"""Rounds of separate processes from which an interval can be given."""

FINE = 0.005
"""Separate processes are good enough if they will bring every interval within this of 0."""

ONE_PROCESSOR = 1.1
"""A program whose processor time is up to this many times its time runs on one processor."""

LEAST_ROUNDS = 8
"""Fewer rounds side by side could not decide anything."""

COST = 2.4
"""A pair takes about this many times the processor time of one process: two share a processor, and
are started."""


def obstacles(plan: Plan) -> list[str]:
    """Why two processes of the program may not run at once, in words."""
    options = plan.options
    return [
        words
        for words, holds in {
            "commands run before or after each process": any(
                build.prepare or build.cleanup for build in plan.builds
            ),
            "it writes files that are compared": bool(options.output_files),
            "a check runs after each process": bool(options.check),
            "each process has a fresh folder": options.fresh_folder,
        }.items()
        if holds
    ]


def may_choose(plan: Plan, rounds_done: int, elapsed_s: float) -> bool:
    """Whether enough is known of separate processes: their least number of rounds, or a third of
    the time for fewer rounds."""
    early = bool(plan.time_s) and elapsed_s >= plan.time_s / 3 and rounds_done >= EARLY
    return rounds_done >= plan.min_rounds or early


def pays(plan: Plan, evidence: Evidence, elapsed_s: float, width: float | None) -> bool:
    """Whether pairs from now on will tell more than separate processes.

    elapsed_s: of the run so far. width: half of the widest interval of the undecided rows,
    relative; None if one is unknown. Separate processes narrow it with the root of their rounds.
    """
    options = plan.options
    if (
        plan.kind != "compare"
        or options.gate is not None
        or options.server is not None
        or options.side_by_side is False
        or obstacles(plan)
    ):
        return False
    if options.side_by_side:
        return True
    if plan.max_rounds or not plan.time_s or elapsed_s <= 0 or not _runs_on_one(evidence):
        return False
    if (plan.time_s - elapsed_s) < LEAST_ROUNDS * _round_s(evidence):
        return False
    return width is None or width * sqrt(min(1.0, elapsed_s / plan.time_s)) > FINE


def _runs_on_one(evidence: Evidence) -> bool:
    shares = [
        process.facts.cpu_s / process.facts.wall_s
        for process in measured(evidence.stored)
        if process.facts.cpu_s and process.facts.wall_s
    ]
    return bool(shares) and max(shares) <= ONE_PROCESSOR


def _round_s(evidence: Evidence) -> float:
    """About what a round of pairs takes."""
    last: dict[tuple[object, str], float] = {}
    for process in measured(evidence.stored):
        last[process.setup, process.subject] = process.facts.cpu_s or 0.0
    return COST * sum(last.values())


def demand_possible(plan: Plan) -> None:
    """Problem E003 if the user asked for pairs, and something stands in the way."""
    found = obstacles(plan) if plan.options.side_by_side else []
    if found:
        raise Problem(
            "E003",
            f"--side-by-side: two processes of the program cannot run at once, since "
            f"{' and '.join(found)}",
            do="leave --side-by-side out, or what stands in its way",
        )
