"""A published report that the run reproduces: its figures beside ours, its conclusions judged."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from heapwise.catalog import choose_published
from heapwise.errors import Problem
from heapwise.report.view import View
from heapwise.study.reproduce.charts import charts, svg
from heapwise.study.reproduce.reproduced import Ours, reproduce, statement_text
from heapwise.wording.names import setting_value, spaced
from heapwise.wording.numbers import ends, significant

TITLE, ORDER = "Published report", 12


def build(view: View) -> dict[str, Any] | None:
    """None for other runs, and if the report is no longer there."""
    chosen = view.run.plan.options.reproduction
    if chosen is None:
        return None
    try:
        report = choose_published(chosen.report)
    except Problem:
        return None
    found = reproduce(view.evidence, report, view.result.trust)
    pictures = {picture.name: picture.table for picture in report.pictures}
    drawn: dict[str, list[Markup]] = {}
    for chart in charts(found):
        drawn.setdefault(pictures[chart.name], []).append(Markup(svg(chart)))
    return {
        "report": report,
        "machines": list(report.machines.values()),
        "programs": found.programs,
        "changes": []
        if view.run.plan.smoke
        else [f"{spaced(name)} {setting_value(value)}" for name, value in found.changes.items()],
        "counts": [(word, number) for word, number in found.counts.items()],
        "conclusions": [
            (judged, [statement_text(part) for part in judged.parts])
            for judged in found.conclusions
        ],
        "tables": [
            {
                "table": each.table,
                "machine": report.machines[each.table.machine].title,
                "rows": [
                    (
                        row,
                        [
                            (figure, *_shown(own))
                            for figure, own in zip(row.figures, ours, strict=True)
                        ],
                    )
                    for row, ours in zip(each.table.rows, each.ours, strict=True)
                ],
                "drawn": drawn.get(each.table.name, []),
            }
            for each in found.tables
        ],
    }


def _shown(ours: Ours) -> tuple[str, str, str]:
    """Figure, interval, and why there is none."""
    if ours.value is None:
        return "", "", ours.note
    interval = "" if ours.low is None or ours.high is None else ends(ours.low, ours.high)
    return significant(ours.value), interval, ""
