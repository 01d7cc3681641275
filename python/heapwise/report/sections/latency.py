"""Latency: where the slow operations are."""

from __future__ import annotations

from functools import partial
from typing import Any

from markupsafe import Markup

from heapwise.analysis.quantile_name import split_quantile
from heapwise.analysis.units import show
from heapwise.evidence.series import parameters_key
from heapwise.figures import latency
from heapwise.model import Row
from heapwise.report.view import View
from heapwise.report.words import cell_words

TITLE, ORDER = "Latency", 50


def build(view: View) -> dict[str, Any] | None:
    figures = []
    for experiment in view.stored.run.experiments:
        families: dict[str, list[Row]] = {}
        for group in view.of(experiment):
            if split := split_quantile(group.quantity):
                key = f"{split[0]}|{parameters_key(group.cell)}"
                families.setdefault(key, []).extend(group.rows)
        for key, rows in families.items():
            measured = [row for row in rows
                        if row.median and row.subject not in view.evidence.control_names]
            if len({row.parameters["quantity"] for row in measured}) > 1:
                title = _title(experiment.id, key, rows[0])
                unit = measured[0].unit
                drawn = latency.draw(measured, title, partial(show, unit=unit))
                figures.append((title, Markup(drawn)))
    return {"figures": figures} if figures else None


def _title(experiment: str, key: str, row: Row) -> str:
    cell = cell_words(row.parameters)
    words = [experiment, key.partition("|")[0].replace("_", " ")]
    return " ".join(w for w in words if w) + (f" ({cell})" if cell else "")
