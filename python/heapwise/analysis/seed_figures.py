"""The seeds' figures, found for the rows that measure the same thing."""

from __future__ import annotations

import re

from heapwise.model import Cell, Experiment, SeedFigure, Settings, same_setting


def seed_figures(experiment: Experiment, subject: str, cell: Cell) -> list[SeedFigure]:
    """Figures of the seeds for this subject in this cell."""
    return [figure for figure in experiment.seed_figures
            if figure.quantity == cell.quantity and _subject(figure, subject)
            and _fits(figure, cell.parameters)]


def seed_value(experiment: Experiment, subject: str, cell: Cell) -> float | None:
    """The first of them, in the row's unit."""
    return next((f.value for f in seed_figures(experiment, subject, cell)), None)


def seed_ratios(
    experiment: Experiment, above: str, below: str, cell: Cell
) -> dict[str, float]:
    """Seed -> above / below, for each that measured both on one machine."""
    under = {f.machine: f.value for f in seed_figures(experiment, below, cell)}
    return {seed_name(figure): figure.value / under[figure.machine]
            for figure in seed_figures(experiment, above, cell) if under.get(figure.machine)}


def seed_name(figure: SeedFigure) -> str:
    """``seed 001, median`` of a machine that ends with it in brackets; else the machine."""
    brackets = re.search(r"\((seed [^()]*)\)$", figure.machine)
    return brackets.group(1) if brackets else figure.machine


def _subject(figure: SeedFigure, subject: str) -> bool:
    """``malloc`` of a seed stands beside the system's malloc only."""
    return figure.subject == subject or (
        figure.subject == "malloc" and subject in ("malloc@glibc", "malloc@system"))


def _fits(figure: SeedFigure, parameters: Settings) -> bool:
    """Every parameter that the figure states is the row's; those unknown to the row are passed."""
    return all(same_setting(parameters.get(name, value), value)
               for name, value in figure.parameters.items())
