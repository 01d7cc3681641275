"""The files of a machine's results: an index, a page of each published report, and what they
show."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from heapwise.document import plain_table
from heapwise.document.markdown import markdown_page, table
from heapwise.figures.svg import plain_colours
from heapwise.report.pages.machine import folder_of, machine_table, title_of
from heapwise.report.pages.picture import standing_alone
from heapwise.report.pages.reproduced import MADE_BY, reproduced_page
from heapwise.report.pages.write import pages
from heapwise.report.view import View
from heapwise.study.reproduce.charts import charts, svg
from heapwise.study.reproduce.documents import figures_csv
from heapwise.study.reproduce.reproduced import Reproduced

INDEX = "README.md"


def results(
    found: Sequence[tuple[View, Reproduced]],
    *,
    with_index: bool = True,
    others: Sequence[View] = (),
) -> dict[str, str]:
    """Path -> text: ``<machine>/README.md``, ``<machine>/<report>.md``, and in
    ``<machine>/<report>/`` the pictures, ``figures.csv`` and the pages of the experiments. others:
    more runs of a single report, whose experiments are here if they are quieter there."""
    files: dict[str, str] = {}
    machines: dict[str, list[tuple[View, Reproduced]]] = {}
    for view, reproduced in found:
        folder = folder_of(view.run.machine)
        machines.setdefault(folder, []).append((view, reproduced))
        name = posixpath.join(folder, reproduced.report.name)
        files[f"{name}.md"] = reproduced_page(view, reproduced, others)
        files[f"{name}/figures.csv"] = figures_csv(reproduced)
        for chart in charts(reproduced):
            files[f"{name}/{chart.name}.svg"] = standing_alone(plain_colours(svg(chart)))
        for each in (view, *others):
            files |= {
                f"{name}/{path}": text
                for path, text in pages(each).items()
                if each is view or reproduced.run_of.get(posixpath.splitext(path)[0]) == each.run.id
            }
    if with_index:
        for folder, members in machines.items():
            files[f"{folder}/{INDEX}"] = _index(members)
    return files


def with_new_row(index: str, view: View, found: Reproduced) -> str:
    """The text of an index in which the line of this report is that of this run. It stays as it is
    if it has no such line."""
    page = f"]({found.report.name}.md)"
    line = table([], [_row(view, found)])[-1]
    return "\n".join(line if page in old else old for old in index.split("\n"))


def _row(view: View, found: Reproduced) -> list[str]:
    return [
        f"[{found.report.title}]({found.report.name}.md)",
        view.run.created[:10],
        view.result.trust.verdict,
        *map(str, found.counts.values()),
    ]


def _index(members: list[tuple[View, Reproduced]]) -> str:
    view, first = members[0]
    head = ["report", "measured", "trust", *first.counts]
    reports = plain_table([head, *(_row(view, found) for view, found in members)])
    return markdown_page(title_of(view.run.machine), [reports, machine_table(view)], MADE_BY)
