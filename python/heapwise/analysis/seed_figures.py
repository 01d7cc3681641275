"""The seeds' figures, found for the rows that measure the same thing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heapwise.model import Experiment, SeedFigure


def seed_value(experiment: Experiment, subject: str, parameters: Mapping[str, Any]) -> float | None:
    """In the row's unit. ``malloc`` of a seed stands beside the system's malloc only."""
    for figure in experiment.seed_figures:
        if (figure.quantity == parameters.get("quantity") and _subject(figure, subject)
                and _fits(figure, parameters)):
            return figure.value
    return None


def _subject(figure: SeedFigure, subject: str) -> bool:
    return figure.subject == subject or (
        figure.subject == "malloc" and subject in ("malloc@glibc", "malloc@system"))


def _fits(figure: SeedFigure, parameters: Mapping[str, Any]) -> bool:
    """Every parameter that the figure states is the row's; those unknown to the row are passed."""
    return all(parameters.get(name, value) == value for name, value in figure.parameters.items())
