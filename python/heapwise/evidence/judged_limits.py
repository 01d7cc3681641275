"""A gate's metrics, each decided from what its run holds so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from heapwise.evidence.comparisons import comparisons_of
from heapwise.evidence.evidence import Evidence
from heapwise.evidence.gate_memory import is_more_than_one_process, unlike_peak_words
from heapwise.evidence.series import Pairs
from heapwise.model import SIDE_BY_SIDE, Process, ProcessFacts
from heapwise.stats.claims.limits import (
    Decision,
    Rounds,
    RunsOfBoth,
    decide_counts,
    decide_over_layouts,
)
from heapwise.stats.claims.rare_limits import decide_with_rare
from heapwise.wording.metrics import OF_GATE, TIMES

TIMED = {name: metric.quantity for name, metric in OF_GATE.items() if metric.quantity}
"""Statistical metrics -> quantities. Instructions are among them where the processor counts them.
"""

COUNTED = {name: metric.count for name, metric in OF_GATE.items() if metric.count}
"""Metrics that are counted in processes of their own, which are not timed."""

OF_MALLOC = {name for name, metric in OF_GATE.items() if metric.of_malloc}
"""Those of which the counter has to be loaded into the program."""

DEAR = {"instructions"}
"""Those of which a count takes many times as long as the program."""

MEMORY, WHOLE = "peak_memory", "tree_peak"
"""The metric, and the quantity of all processes together."""

UNLIKE = Decision("cannot tell", None, None, None, "unlike peaks", next_look=None)
NONE = Decision("cannot tell", None, None, None, "too few rounds")


@dataclass(frozen=True)
class Judged:
    """base, new: the middle of either side in ``unit``; None if it was not measured.

    counts: of an exact metric, what each counting process of the base and of the new build found.
    quantity: that was judged, if it is not the metric's own.
    """

    metric: str
    limit: float
    unit: str
    decision: Decision
    base: float | None
    new: float | None
    counts: tuple[list[int], list[int]] | None = None
    quantity: str = ""


def judge_limits(evidence: Evidence, *, ended: bool) -> list[Judged]:
    """In the order of the limits. ended: no round will follow."""
    limits = evidence.stored.run.plan.limits
    if not limits:
        return []
    declared = {q.name for q in evidence.stored.run.experiments[0].quantities}
    timed = {m for m in limits if TIMED.get(m) in declared}
    tests = len(timed) + (MEMORY in timed)
    return [
        _memory(evidence, float(limit), tests, ended)
        if metric == MEMORY
        else _timed(evidence, metric, float(limit), tests, ended)
        if metric in timed
        else _counted(evidence, metric, float(limit))
        for metric, limit in limits.items()
    ]


def _memory(evidence: Evidence, limit: float, tests: int, ended: bool) -> Judged:
    """The largest process, and all processes together if there was more than one. The worse of both
    verdicts counts."""
    largest = _timed(evidence, MEMORY, limit, tests, ended)
    if largest.decision.verdict == "regressed" or not is_more_than_one_process(
        evidence.stored.processes
    ):
        return largest
    whole = _timed(evidence, MEMORY, limit, tests, ended, WHOLE)
    return (
        largest
        if (largest.decision.verdict, whole.decision.verdict) == ("cannot tell", "fine")
        else whole
    )


def next_look_of(evidence: Evidence) -> int | None:
    """After how many rounds an answer can change; None if further rounds change none."""
    due = (
        one.decision.next_look
        for one in judge_limits(evidence, ended=False)
        if one.counts is None and one.decision.verdict == "cannot tell"
    )
    return min((look for look in due if look is not None), default=None)


def needs_separate(evidence: Evidence) -> bool:
    """Whether a limit of memory that all processes have together is open: one that runs beside the
    base shares pages with it, and counts a part of them."""
    return any(
        one.quantity == WHOLE and one.decision.verdict == "cannot tell"
        for one in judge_limits(evidence, ended=False)
    )


def sides(evidence: Evidence) -> tuple[str, str]:
    """The names of the base and of the new build."""
    [base] = evidence.baselines.values()
    new = next(
        s.name for s in evidence.stored.run.plan.subjects if s.name != base and not s.control
    )
    return base, new


def _timed(
    evidence: Evidence, metric: str, limit: float, metrics: int, ended: bool, quantity: str = ""
) -> Judged:
    """quantity: that is judged, if it is not the metric's own."""
    base, new = sides(evidence)
    plan = evidence.stored.run.plan
    if metric in TIMES and plan.options.together_from is not None:
        quantity = SIDE_BY_SIDE
    wanted = quantity or TIMED[metric]
    cell = next((cell for cell in evidence.table if cell.quantity == wanted), None)
    unit = next(q.unit for q in evidence.stored.run.experiments[0].quantities if q.name == wanted)
    if cell is None or not {base, new} <= evidence.table[cell].keys():
        return Judged(metric, limit, unit, NONE, None, None, quantity=quantity)
    row = evidence.table[cell]
    change = comparisons_of(evidence).of_rounds((cell, new), (cell, base))
    decision = NONE
    if change.has_ratio and unlike_peak_words(evidence, cell, new, base):
        return Judged(metric, limit, unit, UNLIKE, row[base].middle, row[new].middle)
    layouts = plan.layouts
    pairs = comparisons_of(evidence).control_rounds.get(cell)
    if quantity == SIDE_BY_SIDE:
        return _beside(evidence, metric, limit, metrics, ended, (change, pairs))
    if change.has_ratio and layouts:
        decision = decide_over_layouts(
            rounds_of_layouts(change, layouts),
            rounds_of_layouts(pairs, layouts),
            limit,
            metrics,
            ended=ended,
        )
    elif change.has_ratio:
        decision = decide_with_rare(
            _logs(change),
            _logs(pairs) if pairs else [],
            limit,
            metrics,
            ended=ended,
            runs=RunsOfBoth(
                change.above, *((pairs.above, pairs.below) if pairs else (change.below, []))
            ),
        )
    return Judged(
        metric, limit, unit, decision, row[base].middle, row[new].middle, quantity=quantity
    )


def _beside(
    evidence: Evidence,
    metric: str,
    limit: float,
    metrics: int,
    ended: bool,
    pairs: tuple[Pairs, Pairs | None],
) -> Judged:
    """By the processor time of builds that ran side by side. pairs: ratios to the base beside it,
    of the new build and of the second label of the base."""
    base, new = sides(evidence)
    [control] = evidence.controls.values()
    took = {name: _processor_times(evidence, name) for name in (base, new, control)}
    change, itself = pairs
    decision = NONE
    if change.has_ratio:
        rounds = itself.rounds if itself else []
        decision = decide_with_rare(
            _logs(change),
            _logs(itself) if itself else [],
            limit,
            metrics,
            ended=ended,
            runs=RunsOfBoth(
                [took[new][round] for round in change.rounds],
                [took[base][round] for round in rounds or change.rounds],
                [took[control][round] for round in rounds],
            ),
        )
    before, after = (float(np.median([*took[name].values()])) for name in (base, new))
    return Judged(metric, limit, "s", decision, before, after, quantity=SIDE_BY_SIDE)


def _processor_times(evidence: Evidence, subject: str) -> dict[int, float]:
    """Round -> processor time, of the processes of a subject that ran beside others."""
    return {
        process.round: process.facts.cpu_s_beside
        for process in evidence.stored.processes
        if process.subject == subject
        and process.status == "ok"
        and process.facts.beside is not None
        and process.facts.cpu_s_beside
    }


def rounds_of_layouts(pairs: Pairs | None, layouts: int) -> Rounds:
    """The log ratios of builds that were linked again, each with the layout of its round."""
    if pairs is None:
        return Rounds.of([], [])
    return Rounds.of(_logs(pairs), [number % layouts for number in pairs.rounds])


def _logs(pairs: Pairs) -> list[float]:
    found: list[float] = (np.log(pairs.above) - np.log(pairs.below)).tolist()
    return found


def _counted(evidence: Evidence, metric: str, limit: float) -> Judged:
    base, new = sides(evidence)
    own = {base, *evidence.controls.values()}
    counts = (counts_of(evidence, own, metric), counts_of(evidence, {new}, metric))
    uneven = evidence.stored.run.plan.uneven
    return judge_counts(metric, limit, counts, uneven=bool(uneven))


def judge_counts(
    metric: str, limit: float, counts: tuple[list[int], list[int]], *, uneven: bool = False
) -> Judged:
    """counts: of the base and of the new build. uneven: something else differs, too."""
    verdict = "cannot tell" if uneven else decide_counts(*counts, limit, dear=metric in DEAR)
    unit: Literal["bytes", "count"] = "bytes" if metric == "allocated_bytes" else "count"
    middles = [float(np.median(each)) if each else None for each in counts]
    return Judged(
        metric, limit, unit, Decision(verdict, None, None, None), middles[0], middles[1], counts
    )


def counts_of(evidence: Evidence, names: set[str], metric: str) -> list[int]:
    """What each process of these subjects counted that ended well."""
    return counts_in(
        metric,
        (
            process.facts
            for process in evidence.stored.processes
            if process.subject in names and _was_counted(process)
        ),
    )


def counts_in(metric: str, facts: Iterable[ProcessFacts]) -> list[int]:
    """Leaves out processes in which the metric was not counted."""
    return [count for count in map(COUNTED[metric], facts) if count is not None]


def _was_counted(process: Process) -> bool:
    return process.facts.counting and process.status == "ok"
