"""The rows of a program experiment: time beside memory, a block for each kind, and the published
figures of other machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from heapwise.analysis.verdicts.gain import PEAK
from heapwise.analysis.verdicts.published_figures import published_figures
from heapwise.document import Heading, TableCell, TextTable, table_cell
from heapwise.model import Experiment, Result
from heapwise.study.experiments.cell_tables import median_cell, relation_cell
from heapwise.study.trees.tree_table import WALL, TreeLine, TreeTable, tree_tables
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import Scale

SHORT = {
    WALL: "wall",
    "user": "user",
    "system": "system",
    PEAK: "peak",
    "collections": "collections",
    "longest_pause": "longest pause",
}
"""Quantity -> its name where there is little room."""


def program_tables(experiment: Experiment, result: Result) -> list[TextTable]:
    """The columns of published figures have no place on a terminal."""
    return [_table(table) for table in tree_tables(experiment, result.rows)]


def _table(table: TreeTable) -> TextTable:
    scales = table.scales(SHORT)
    base = table.experiment.baseline
    machines = list(cited_machines(table))
    head = [
        table_cell("row", ""),
        *(_head(quantity, scale) for quantity, scale in scales.items()),
        table_cell(f"time vs {base}", f"vs {base}"),
        *(table_cell(f"{machine}, s", "") for machine in machines),
    ]
    rows: list[Sequence[TableCell] | Heading] = []
    for title, members in table.groups.items():
        cited = [_published(table, line) for line in members]
        rows.append(Heading(title))
        rows += [
            [*_line(line, scales), *(figures.get(machine, table_cell("")) for machine in machines)]
            for line, figures in zip(members, cited, strict=True)
        ]
    return TextTable(head, rows, f"{table.experiment.id}  {table.words()}")


def cited_machines(table: TreeTable) -> dict[str, str]:
    """Machine -> the report, of those with a published figure in the table."""
    shown = {machine for line in table.lines for machine in _published(table, line)}
    return {f.machine: f.report for f in table.experiment.published if f.machine in shown}


def _head(quantity: str, scale: Scale) -> TableCell:
    short = f"{SHORT[quantity]} {scale.label}".rstrip()
    return table_cell(scale.heading(quantity_name(quantity)), short)


def _line(line: TreeLine, scales: Mapping[str, Scale]) -> Iterator[TableCell]:
    mark = "control" if line.control else ""
    yield table_cell(line.subject, f"  {line.subject}", line.spec.title, mark)
    if line.trouble:
        yield TableCell(line.trouble, line.trouble, mark="missing", span=len(scales) + 1)
        return
    absent = table_cell("", "-")
    for quantity, scale in scales.items():
        row = line.rows.get(quantity)
        yield median_cell(row, scale) if row else absent
    yield relation_cell(line.rows[WALL]) if WALL in line.rows else absent


def _published(table: TreeTable, line: TreeLine) -> dict[str, TableCell]:
    """Machine -> real time, and user and system time, in seconds, as printed."""
    found: dict[str, dict[str, str]] = {}
    for quantity in (WALL, "user", "system"):
        for figure in published_figures(table.experiment, line.subject, table.cell(quantity)):
            found.setdefault(figure.machine, {})[quantity] = f"{figure.value:.2f}"
    return {
        machine: table_cell(
            figures.pop(WALL, ""), "", " ".join(f"{value} {q}" for q, value in figures.items())
        )
        for machine, figures in found.items()
    }
