"""Latency: where the slow operations are."""

from __future__ import annotations

from functools import partial

from heapwise.document import Passage, Plot
from heapwise.figures import latency
from heapwise.model import Row, Settings
from heapwise.report.view import View
from heapwise.wording.names import cell_words, quantity_name, split_quantile
from heapwise.wording.numbers import show

TITLE, ORDER = "Latency", 50


def tell(view: View) -> list[Passage]:
    figures: list[Passage] = []
    for experiment in view.run.experiments:
        families: dict[tuple[str, Settings], list[Row]] = {}
        for group in view.of(experiment):
            if split := split_quantile(group.quantity):
                families.setdefault((split[0], group.parameters), []).extend(group.rows)
        for (quantity, parameters), rows in families.items():
            measured = view.ranked(row for row in rows if row.median)
            if len({row.quantity for row in measured}) > 1:
                title = _title(experiment.id, quantity, parameters)
                drawn = latency.draw(measured, title, partial(show, unit=measured[0].unit))
                caption = f"{title}. The further right, the rarer and slower the operation."
                figures.append(Plot(drawn, caption))
    return figures


def _title(experiment: str, quantity: str, parameters: Settings) -> str:
    cell = f"({words})" if (words := cell_words(parameters)) else ""
    return " ".join(filter(None, (experiment, quantity_name(quantity), cell)))
