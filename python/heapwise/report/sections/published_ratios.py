"""Ratios, and the figures of published reports beside those of the run."""

from __future__ import annotations

from heapwise.analysis.verdicts.published_figures import published_figures
from heapwise.analysis.verdicts.standing import are_many_questions
from heapwise.model import CitedFigure, Row
from heapwise.report.context import Context
from heapwise.report.view import Group, View
from heapwise.wording.names import cell_words, quantity_name
from heapwise.wording.numbers import scale_for

TITLE, ORDER = "Ratios and published figures", 29


def build(view: View) -> Context | None:
    # With many questions each has them in its own tables.
    groups = [] if are_many_questions(view.evidence) else view.groups
    lines = [
        _line(group, row, figure)
        for group in groups
        if not group.experiment.is_of_programs
        for row in group.rows
        for figure in published_figures(group.experiment, row.subject, row.cell)
    ]
    headlines = view.result.headlines
    if not lines and not headlines:
        return None
    return {"lines": lines, "headlines": [line.partition(": ")[::2] for line in headlines]}


def _line(group: Group, row: Row, figure: CitedFigure) -> dict[str, str]:
    scale = scale_for([row.median, figure.value], row.unit)
    return {
        "experiment": group.experiment.id,
        "quantity": quantity_name(group.quantity),
        "cell": cell_words(group.parameters),
        "subject": row.subject,
        "unit": scale.label,
        "published": scale.number(figure.value),
        "machine": figure.machine,
        "report": figure.report,
        "ours": scale.number(row.median) if row.median is not None else "",
    }
