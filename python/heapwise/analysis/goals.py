"""What the project aims at, and whether this run shows it: computed from the pairs of each cell."""

from __future__ import annotations

from heapwise.analysis.headlines import figures
from heapwise.analysis.heap_goals import heap_goals, pool_goals, tree_goals
from heapwise.evidence import Evidence
from heapwise.model import Goal, Trust


def goals(evidence: Evidence, trust: Trust) -> list[Goal]:
    """Of the pools, the heap and the trees; none for smoke runs and comparisons."""
    if evidence.stored.run.plan.smoke:
        return []
    return [
        *pool_goals(evidence, trust),
        *heap_goals(evidence, trust),
        *tree_goals(evidence, trust),
    ]


def goal_line(goal: Goal) -> str:
    """``met  bulk free: boost_pool / unsynchronized = 1.8x, 1.7 to 1.9 (aim: at least 1.5x)``."""
    value = "" if goal.ratio is None else f" = {figures(goal.ratio, goal.low, goal.high)}"
    note = f"; {goal.note}" if goal.note else ""
    return f"{goal.verdict:16}  {goal.cell}: {goal.of}{value} (aim: {goal.aim}{note})"
