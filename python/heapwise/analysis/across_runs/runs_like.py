"""Further runs of the store that measured the same as a run, and how much they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from heapwise.model import Cell, Setting
from heapwise.stats.ratios.between_runs import BetweenRuns, between_runs
from heapwise.store import Point, RunPoints

FigurePlace = tuple[str, tuple[tuple[str, Setting], ...], str, str]
"""The command or the experiment, its settings, the quantity and the subject."""


def spreads(like: RunPoints, runs: Iterable[RunPoints]) -> Mapping[FigurePlace, BetweenRuns]:
    """The spread of each figure of ``like`` that at least four runs have, on its machine and system
    and with its allocators and input. runs: in the order of time."""
    wanted = {_place(point): point for point in like.points}
    levels: dict[FigurePlace, list[float]] = {}
    for run in runs:
        if (run.machine, run.system, run.smoke) != (like.machine, like.system, like.smoke):
            continue
        for point in run.points:
            same = wanted.get(_place(point))
            if same is not None and _conditions(same) == _conditions(point):
                levels.setdefault(_place(point), []).append(point.value)
    found = {place: between_runs(values) for place, values in levels.items()}
    return {place: spread for place, spread in found.items() if spread is not None}


def place_in(like: RunPoints, cell: Cell, subject: str) -> FigurePlace:
    """command: a comparison's is its program, in which all of its cells are."""
    command = next((p.command for p in like.points if p.subject == subject), "")
    known = {point.command for point in like.points}
    return (
        cell.experiment if cell.experiment in known else command,
        tuple(sorted(cell.parameters.items())),
        cell.quantity,
        subject,
    )


def _place(point: Point) -> FigurePlace:
    return point.command, tuple(sorted(point.parameters.items())), point.quantity, point.subject


def _conditions(point: Point) -> tuple[str, str, str]:
    return point.toolchain, point.place, point.input
