"""An aim as a run shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from heapwise.analysis.summary.headlines import figures


@dataclass(frozen=True)
class Goal:
    """An aim of the project in one cell: the ratio ``compared`` should be as ``aim`` says.

    ``verdict`` follows from the strict interval: met or not met if all of it lies on one side, and
    the ratio is farther from the aim than the noise floor. A value, and a ratio that may be level,
    is judged from its 95 % interval. A goal over many rows has each of them in ``parts``; its
    figures are those of the worst.
    """

    cell: str
    compared: str
    aim: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Literal["met", "not met", "cannot tell here", "not measured"]
    note: str = ""
    parts: list[Goal] = field(default_factory=list)


def goal_line(goal: Goal) -> str:
    """``met  bulk free: boost_pool / unsynchronized = 1.8x, 1.7 to 1.9 (aim: at least 1.5x)``."""
    value = "" if goal.ratio is None else f" = {figures(goal.ratio, goal.low, goal.high)}"
    note = f"; {goal.note}" if goal.note else ""
    return f"{goal.verdict:16}  {goal.cell}: {goal.compared}{value} (aim: {goal.aim}{note})"


VERDICTS = ("not met", "cannot tell here", "not measured", "met")


def worst_first(goal: Goal) -> list[Goal]:
    """The parts: those that are not met before all others, each from the worst on."""
    sign = -1 if goal.aim.startswith("at most") else 1
    return sorted(
        goal.parts, key=lambda part: (VERDICTS.index(part.verdict), sign * (part.ratio or 0.0))
    )
