"""Figures of published reports, found for the rows that measure the same thing."""

from __future__ import annotations

from heapwise.model import Cell, CitedFigure, Experiment, Settings, same_setting


def published_figures(experiment: Experiment, subject: str, cell: Cell) -> list[CitedFigure]:
    """Those for this subject in this cell."""
    return [
        figure
        for figure in experiment.published
        if figure.quantity == cell.quantity
        and figure.subject == subject
        and _fits(figure, cell.parameters)
    ]


def published_value(experiment: Experiment, subject: str, cell: Cell) -> float | None:
    """The first of them, in the row's unit."""
    return next((f.value for f in published_figures(experiment, subject, cell)), None)


def published_ratios(
    experiment: Experiment, above: str, below: str, cell: Cell
) -> dict[str, float]:
    """Title of a report -> above / below, for each that measured both on one machine."""
    under = {(f.report, f.machine): f.value for f in published_figures(experiment, below, cell)}
    return {
        figure.report: figure.value / divisor
        for figure in published_figures(experiment, above, cell)
        if (divisor := under.get((figure.report, figure.machine)))
    }


def _fits(figure: CitedFigure, parameters: Settings) -> bool:
    """Every parameter that the figure states is the row's; those unknown to the row are passed."""
    return all(
        same_setting(parameters.get(name, value), value)
        for name, value in figure.parameters.items()
    )
