"""What the project aims at, and whether this run shows it: computed from the pairs of each cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heapwise.analysis.headlines import figures, label
from heapwise.analysis.heap_goals import heap_goals, tree_goals
from heapwise.analysis.roles import BEST_MALLOC, OTHER_POOL, members, spoken
from heapwise.analysis.rows import place
from heapwise.analysis.verdict import Figure, kept
from heapwise.evidence import Evidence
from heapwise.model import Cell, Goal, Trust
from heapwise.stats.paired import PairedRatio
from heapwise.wording.numbers import times

Word = Literal["met", "not met", "cannot tell here"]


@dataclass(frozen=True)
class Aim:
    """``above`` over ``below`` in time shall be at least, or at most, ``factor``.

    above: a subject or a role; where a role has several subjects, each of them counts.
    """

    experiment: str
    above: str
    below: str
    factor: float
    at_most: bool = False
    quantities: tuple[str, ...] = ()
    threads: tuple[int, ...] | Literal["contended"] = ()

    def covers(self, cell: Cell) -> bool:
        """Where a cell may touch the blocks inside the clock, the one that does not is meant."""
        threads = cell.parameters.number("threads", 1)
        fits = threads >= 2 if self.threads == "contended" else threads in (self.threads or (1,))
        return (cell.experiment == self.experiment and fits
                and (not self.quantities or cell.quantity in self.quantities)
                and cell.parameters.get("touch", "none") == "none")

    def judge(self, ratio: PairedRatio, floor: float | None) -> Word:
        figure = Figure.of(ratio)
        if self.at_most:
            return kept(figure, 0.0, self.factor, floor)
        return kept(figure, self.factor, None, floor)

    @property
    def sense(self) -> str:
        return f"{'at most' if self.at_most else 'at least'} {times(self.factor, 2)}"


LEVEL = 0.97
"""Within 3 % of the fastest is level: the neighbours in a list of five differ by more."""

REUSE = ("free", "alloc_reused")

AIMS = (
    Aim("pool/interleaved", OTHER_POOL, "unsynchronized", LEVEL),
    Aim("pool/interleaved", BEST_MALLOC, "unsynchronized", 4.0),
    Aim("pool/bulk", "boost_pool", "unsynchronized", 1.5, quantities=REUSE),
    Aim("pool/bulk", "foonathan_pool", "unsynchronized", 1.5, quantities=REUSE),
    Aim("pool/interleaved", "thread_cached", "unsynchronized", 2.0, at_most=True),
    Aim("pool/interleaved", "thread_cached_handle", "unsynchronized", 2.0, at_most=True),
    Aim("pool/concurrent", BEST_MALLOC, "thread_cached", 2.0, threads=(4,)),
    Aim("pool/concurrent", BEST_MALLOC, "thread_cached_handle", 2.0, threads=(4,)),
    Aim("pool/concurrent", "mutex", "lock_free", 1.0, threads="contended"),
)


def goals(evidence: Evidence, trust: Trust) -> list[Goal]:
    """For every aim and every cell that it covers; none for smoke runs and comparisons."""
    if evidence.stored.run.plan.smoke:
        return []
    experiments = {e.id: e for e in evidence.stored.run.experiments}
    found = []
    for aim in AIMS:
        if aim.experiment in experiments:
            cells = [c for c in evidence.table if aim.covers(c) and aim.below in evidence.table[c]]
            for cell in sorted(cells, key=lambda c: place(experiments[c.experiment], c)):
                found.append(_goal(evidence, aim, cell, trust))
    return found + heap_goals(evidence, trust) + tree_goals(evidence, trust)


def _goal(evidence: Evidence, aim: Aim, cell: Cell, trust: Trust) -> Goal:
    ratios = _ratios(evidence, aim, cell)
    if not ratios:
        return Goal(label(evidence, cell), f"{aim.above} / {aim.below}", aim.sense, None, None,
                    None, "cannot tell here", f"no {aim.above} was measured")
    worst = (max if aim.at_most else min)(ratios, key=lambda name: ratios[name].ratio)
    words = [aim.judge(ratio, evidence.floors.get(cell)) for ratio in ratios.values()]
    verdict: Word = "cannot tell here"
    if reason := _obstacle(evidence, aim, trust):
        pass
    elif "not met" in words:
        verdict = "not met"
    elif "cannot tell here" not in words:
        verdict = "met"
    ratio = ratios[worst]
    return Goal(label(evidence, cell), f"{spoken(aim.above, worst)} / {aim.below}", aim.sense,
                ratio.ratio, ratio.low, ratio.high, verdict, reason or ratio.note)


def _ratios(evidence: Evidence, aim: Aim, cell: Cell) -> dict[str, PairedRatio]:
    """Subject -> ratio, where there is one."""
    names = members(evidence, evidence.table[cell], aim.above)
    found = {name: evidence.ratio((cell, name), (cell, aim.below))[0] for name in names}
    return {name: ratio for name, ratio in found.items() if ratio is not None}


def _obstacle(evidence: Evidence, aim: Aim, trust: Trust) -> str:
    """Why this run cannot tell, whatever its figures are."""
    if trust.verdict == "not trustworthy":
        return "the figures are not trustworthy"
    if aim.threads and evidence.stored.run.machine.cores < 2:
        return "threads do not contend on one processor"
    return ""


def goal_line(goal: Goal) -> str:
    """``met  bulk free: boost_pool / unsynchronized = 1.8x, 1.7 to 1.9 (aim: at least 1.5x)``."""
    value = "" if goal.ratio is None else f" = {figures(goal.ratio, goal.low, goal.high)}"
    note = f"; {goal.note}" if goal.note else ""
    return f"{goal.verdict:16}  {goal.cell}: {goal.of}{value} (aim: {goal.aim}{note})"
