"""Two stored runs beside each other. Nothing here is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from heapwise.model.cell import Cell


@dataclass(frozen=True)
class DifferenceRow:
    """One subject in one cell, in the first run and in the second.

    ratio: second over first. low, high: its unpaired 95 % interval; None if the runs cannot be
    compared, or if there are too few rounds. verdict: of the second run against the first.
    note: why a figure that both runs have is not judged, such as a crash in one of them.
    relative_to: the baseline, if the ratio is of the subject's ratios to it; "" of the figures.
    least: an end of an interval: the true ratio is below it in one of 1,000 pairs of runs. None
    without an interval.
    """

    cell: Cell
    subject: str
    unit: str
    first: float
    second: float
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Literal["better", "worse", "no difference", "cannot tell", "none"]
    relative_to: str = ""
    least: float | None = None
    note: str = ""


@dataclass(frozen=True)
class LostRow:
    """One subject in one cell of which one run has no figure. why: in words."""

    cell: Cell
    subject: str
    unit: str
    why: str


@dataclass(frozen=True)
class Difference:
    """first, second: ids of the runs. reasons: why there is no verdict; empty if there is one."""

    first: str
    second: str
    reasons: list[str] = field(default_factory=list)
    rows: list[DifferenceRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What differs and does not forbid a comparison, such as the program itself."""

    lost: list[LostRow] = field(default_factory=list)
    """What only one of the runs has a figure of."""
