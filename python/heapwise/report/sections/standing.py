"""At a glance: every row, which is best in it, and how many times behind the others are."""

from __future__ import annotations

from heapwise.analysis.verdicts.standing import are_many_questions, standings
from heapwise.document import Notice, Passage
from heapwise.report.view import View
from heapwise.study.experiments.standing_tables import LEGEND, standing_tables

TITLE, ORDER = "At a glance", 21

LEAST_ROWS = 2


def tell(view: View) -> list[Passage]:
    if view.is_compare or view.run.plan.smoke:
        return []
    if len(standings(view.evidence)) < LEAST_ROWS or are_many_questions(view.evidence):
        return []
    return [Notice(LEGEND), *standing_tables(view.evidence)]
