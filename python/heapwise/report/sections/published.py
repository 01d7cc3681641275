"""A published report that the run reproduces: its figures beside ours, its conclusions judged."""

from __future__ import annotations

from dataclasses import replace

from heapwise.catalog import choose_published
from heapwise.document import Heading, Notice, Passage, Plot, Sentence
from heapwise.errors import Problem
from heapwise.report.view import View
from heapwise.study.reproduce.charts import charts, svg
from heapwise.study.reproduce.reproduced import Reproduced, reproduce
from heapwise.study.reproduce.tell import (
    author_words,
    changes_words,
    conclusion_table,
    counts_words,
    figure_passages,
    sizes_words,
    source_tables,
)
from heapwise.study.trees.row_commands import commands_table

TITLE, ORDER = "Published report", 12

JUDGED = (
    "The verdict says whether a conclusion holds here, the size whether our ratio lies within 1.5 "
    "times the published one. A ratio is judged by its 99 % interval and the noise floor, a value "
    "by its 95 % interval. In the tables, small figures are 95 % intervals."
)


def tell(view: View) -> list[Passage]:
    """Empty for other runs, and if the report is no longer there."""
    if not view.run.plan.report:
        return []
    try:
        report = choose_published(view.run.plan.report)
    except Problem:
        return []
    found = reproduce(view.evidence, report, view.result.trust)
    changes = "" if view.run.plan.smoke else changes_words(found)
    passages: list[Passage] = [
        Sentence(f"{report.title}. {report.origin}", report.link),
        Sentence(report.about),
        Sentence(f"Conclusions: {counts_words(found)}. Sizes: {sizes_words(found)}."),
        *(Sentence(words) for words in (changes, author_words(found)) if words),
        conclusion_table(found),
        Notice(JUDGED),
        *_tables(found),
    ]
    if found.programs:
        passages += [Heading("Commands, versions and builds"), commands_table(found.programs)]
    folded = "The machines of the report"
    return [*passages, *(replace(table, folded=folded) for table in source_tables(report))]


def _tables(found: Reproduced) -> list[Passage]:
    report = found.report
    pictures = {picture.name: picture for picture in report.pictures}
    drawn: dict[str, list[Passage]] = {}
    for chart in charts(found):
        picture = pictures[chart.name]
        drawn.setdefault(picture.table, []).append(Plot(svg(chart), picture.title))
    passages: list[Passage] = []
    for each in found.tables:
        passages += [
            Heading(each.table.title),
            Notice(f"Published figures measured on: {report.machines[each.table.machine].title}."),
            *drawn.get(each.table.name, []),
            *figure_passages(each),
        ]
    return passages
