"""Run order: if the machine drifted, one sees it here."""

from __future__ import annotations

import numpy as np

from heapwise.document import Passage, Plot
from heapwise.evidence.series import Series
from heapwise.figures import order
from heapwise.figures.order import OrderPoint
from heapwise.report.view import View
from heapwise.wording.names import quantity_name

TITLE, ORDER = "Run order", 60


def tell(view: View) -> list[Passage]:
    figures: list[Passage] = []
    for experiment in view.run.experiments:
        first = experiment.quantities[0].name
        moments = [
            moment
            for cell in view.evidence.cells[experiment.id]
            if cell.quantity == first
            for series in view.evidence.table[cell].values()
            for moment in _moments(series)
        ]
        if len(moments) > 3:
            title = f"{experiment.id}: {quantity_name(first)}, relative to its own median"
            caption = f"{title}. Colours tell subjects apart; a level cloud means no drift."
            figures.append(Plot(order.draw(moments, title), caption))
    return figures


def _moments(series: Series) -> list[OrderPoint]:
    by_process: dict[int, list[float]] = {}
    for number, value in zip(series.order, series.values, strict=True):
        by_process.setdefault(number, []).append(value)
    return [
        OrderPoint(number, series.subject, float(np.median(values)) / series.median)
        for number, values in by_process.items()
        if series.median > 0
    ]
