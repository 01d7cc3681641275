"""The table of a comparison: time and memory, absolute and relative, every sample as a dot."""

from __future__ import annotations

from dataclasses import replace

from heapwise.document import (
    DRAWING,
    Heading,
    Notice,
    Passage,
    Sentence,
    TableCell,
    TextTable,
    table_cell,
)
from heapwise.model import SIDE_BY_SIDE
from heapwise.report.view import Group, View
from heapwise.study.experiments.cell_tables import name_cell
from heapwise.study.program.compare_table import Column, figure_columns, table_of

TITLE, ORDER = "Result", 20

FIRST = ("wall_time", SIDE_BY_SIDE, "peak_memory")

LEGEND = (
    "Small figures are 95 % intervals. One with signs is the change of the figure: −3 % is 3 % "
    "less of it. A dot is one process, the stroke is the median, and the shade is its interval. "
    "All strips of a column have the same axis."
)


def tell(view: View) -> list[Passage]:
    if not view.is_compare or not view.groups:
        return []
    passages: list[Passage] = []
    for cell in dict.fromkeys(group.parameters for group in view.groups):
        groups = [group for group in view.groups if group.parameters == cell]
        first = [g for name in FIRST for g in groups if g.quantity == name]
        # A quantity that is zero everywhere tells nothing.
        rest = [g for g in groups if g.quantity not in FIRST and any(r.max for r in g.rows)]
        passages += [Heading(str(cell))] if str(cell) else []
        passages += [_table(view, first or groups[:1], with_strips=True), Notice(LEGEND)]
        if rest:
            more = _table(view, rest, with_strips=False)
            passages.append(replace(more, folded="More quantities"))
    if absent := "; ".join(f"{peer.name} {peer.get}" for peer in view.run.missing_peers):
        passages.append(Sentence(f"Not installed, so not measured: {absent}."))
    return passages


def _table(view: View, groups: list[Group], *, with_strips: bool) -> TextTable:
    """A row for each subject; for each quantity its figure, and how it compares."""
    versions = {s.name: s.peer.version for s in view.run.plan.subjects if s.peer}
    subjects: dict[str, TableCell] = {}
    columns: list[Column] = []
    for group in groups:
        for row in group.rows:
            known = subjects.get(row.subject) or replace(name_cell(row), value=row.subject)
            note = (known.note or row.note) if with_strips else ""
            subjects[row.subject] = replace(known, small=versions.get(row.subject, ""), note=note)
        found = figure_columns({row.subject: row for row in group.rows}, "")
        columns += [each for each in found if with_strips or each.head.mark != DRAWING]
    table = table_of(subjects, columns)
    first = table_cell("program" if view.evidence.compares_builds else "allocator")
    return replace(table, head=[first, *table.head[1:]], sortable=True, of_figures=True)
