"""A published report that the run reproduces: its figures beside ours, its conclusions judged."""

from __future__ import annotations

from heapwise.catalog import choose_published
from heapwise.document import Passage, Plot
from heapwise.errors import Problem
from heapwise.report.view import View
from heapwise.study.reproduce.charts import charts, svg
from heapwise.study.reproduce.reproduced import reproduce
from heapwise.study.reproduce.tell import report_passages

TITLE, ORDER = "Published report", 12


def tell(view: View) -> list[Passage]:
    """Empty for other runs, and if the report is no longer there."""
    if not view.run.plan.report:
        return []
    try:
        report = choose_published(view.run.plan.report)
    except Problem:
        return []
    found = reproduce(view.evidence, report, view.result.trust)
    drawn = {chart.name: svg(chart) for chart in charts(found)}
    return report_passages(
        found, lambda one: Plot(drawn[one.name], one.title), "The machines of the report"
    )
