"""Ratios, and the figures of published reports beside those of the run."""

from __future__ import annotations

from dataclasses import replace

from heapwise.analysis.verdicts.standing import are_many_questions
from heapwise.document import Notice, Passage, SentenceList, plain_table, under
from heapwise.model import CitedFigure, Row
from heapwise.report.view import Group, View
from heapwise.wording.names import cell_words, quantity_name
from heapwise.wording.numbers import scale_for

TITLE, ORDER = "Ratios and published figures", 29


ABOUT = (
    "They were measured on another machine, with another system and compiler: compare ratios, not "
    "nanoseconds."
)
HEAD = ("experiment", "quantity", "cell", "subject", "ours", "published", "unit", "from")


def tell(view: View) -> list[Passage]:
    # With many questions each has them in its own tables.
    groups = [] if are_many_questions(view.evidence) else view.groups
    lines = [
        _line(group, row, figure)
        for group in groups
        if not group.experiment.is_of_programs
        for row, figure in group.cited()
    ]
    published: list[Passage] = [Notice(ABOUT), replace(plain_table([HEAD, *lines]), sortable=True)]
    return [
        *under("Ratios", [SentenceList(view.result.headlines)]),
        *under("Published figures beside ours", published if lines else []),
    ]


def _line(group: Group, row: Row, figure: CitedFigure) -> list[str]:
    scale = scale_for([row.median, figure.value], row.unit)
    return [
        group.experiment.id,
        quantity_name(group.quantity),
        cell_words(group.parameters),
        row.subject,
        scale.number(row.median) if row.median is not None else "",
        scale.number(figure.value),
        scale.label,
        f"{figure.report}; {figure.machine}",
    ]
