"""Further runs of the store that measured the same as a run, and how much they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from heapwise.model import Cell, Setting
from heapwise.stats.ratios.between_runs import BetweenRuns, between_runs
from heapwise.store import Point, RunPoints

FigurePlace = tuple[str, tuple[tuple[str, Setting], ...], str, str]
"""The command or the experiment, its settings, the quantity and the subject."""


def spreads(like: RunPoints, runs: Iterable[RunPoints]) -> Mapping[FigurePlace, BetweenRuns]:
    """The spread of each figure of ``like`` that at least four runs have, on its machine and system
    and with its allocators and input. runs: in the order of time."""
    levels: dict[FigurePlace, list[float]] = {}
    for alike in _alike(like, runs):
        for place, point in alike.items():
            levels.setdefault(place, []).append(point.value)
    return _spreads(levels)


def relative_spreads(
    like: RunPoints, runs: Iterable[RunPoints]
) -> Mapping[FigurePlace, BetweenRuns]:
    """The same of each figure over that of the baseline of its run. What changes on the machine
    changes both, and what changes a subject alone from run to run is left."""
    levels: dict[FigurePlace, list[float]] = {}
    for alike in _alike(like, runs):
        for place, point in alike.items():
            base = alike.get((*place[:3], point.baseline))
            if base is not None and base is not point and base.value > 0:
                levels.setdefault(place, []).append(point.value / base.value)
    return _spreads(levels)


def _alike(like: RunPoints, runs: Iterable[RunPoints]) -> Iterator[dict[FigurePlace, Point]]:
    """The figures that were measured as in ``like``, run by run, on the same machine and system."""
    wanted = {_place(point): point for point in like.points}
    for run in runs:
        if (run.machine, run.system, run.smoke) != (like.machine, like.system, like.smoke):
            continue
        yield {
            _place(point): point
            for point in run.points
            if (same := wanted.get(_place(point))) and _conditions(same) == _conditions(point)
        }


def _spreads(levels: Mapping[FigurePlace, list[float]]) -> dict[FigurePlace, BetweenRuns]:
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
