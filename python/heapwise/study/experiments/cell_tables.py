"""The rows of a cell: their figures, and how they compare with the baseline, in every form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heapwise.analysis.verdicts.published_figures import published_figures
from heapwise.document import DRAWING, TableCell, TextTable, table_cell
from heapwise.document.aligned import CI
from heapwise.figures import strip
from heapwise.figures.axis import Axis
from heapwise.model import Cell, Experiment, Result, Row, SubjectName
from heapwise.wording.names import spaced
from heapwise.wording.numbers import Scale, scale_for
from heapwise.wording.ratios import interval, relation, with_interval

SPARE = ("sd", "max", "min", "mean")
"""Columns that a narrow terminal leaves out, the first of them first."""

FIGURES = {"median": "median", "min": "min", "mean": "mean", "max": "max", "stddev": "sd"}


def experiment_tables(result: Result) -> list[TextTable]:
    """A table for each cell, under its name."""
    groups: dict[Cell, list[Row]] = {}
    for row in result.rows:
        groups.setdefault(row.cell, []).append(row)
    experiments = {each.id: each for each in result.run.experiments}
    return [
        replace(cell_table(experiments[cell.experiment], rows), caption=_title(cell))
        for cell, rows in groups.items()
    ]


def _title(cell: Cell) -> str:
    settings = "  ".join(f"{name}={value}" for name, value in cell.parameters.items())
    return f"{cell.experiment}  {cell.quantity}  {settings}".rstrip()


def cell_table(
    experiment: Experiment, rows: Sequence[Row], *, with_strips: bool = False
) -> TextTable:
    """The five figures and the ratio; what reports publish. with_strips: every sample as a dot."""
    scale = scale_for([row.min for row in rows], rows[0].unit)
    axis = strip.shared_axis([row.values for row in rows]) if with_strips else None
    head = [
        table_cell("subject", ""),
        table_cell("n", mark="number"),
        *(
            table_cell(f"{words} {scale.label}".rstrip() if name == "median" else words)
            for name, words in FIGURES.items()
        ),
        table_cell(f"vs {experiment.baseline}", f"vs baseline {CI}", mark="relation"),
    ]
    published = [_published(experiment, row, scale) for row in rows]
    is_cited = any(cell.text for cell in published)
    head += [
        table_cell("published" if is_cited else "", ""),
        table_cell("every sample", mark=DRAWING) if axis else table_cell(""),
    ]
    lines = [
        [*_figures(row, scale), cited, strip_cell(row, axis, scale)]
        for row, cited in zip(rows, published, strict=True)
    ]
    return TextTable(head, lines, of_figures=True, sortable=True, spare=SPARE)


def _figures(row: Row, scale: Scale) -> list[TableCell]:
    if row.median is None:
        words = TableCell(missing(row), missing(row), mark="missing", span=len(FIGURES) + 1)
        return [name_cell(row), table_cell(str(row.n)), words]
    figures = [median_cell(row, scale)] + [
        table_cell("" if (value := getattr(row, name)) is None else scale.number(value))
        for name in FIGURES
        if name != "median"
    ]
    return [name_cell(row), table_cell(str(row.n)), *figures, relation_cell(row)]


def name_cell(row: Row) -> TableCell:
    """With what has to be known of a row that has a ratio; controls need nothing."""
    if SubjectName.parse(row.subject).control:
        return table_cell(row.subject, mark="control")
    return replace(table_cell(row.subject), note=row.note if row.ratio is not None else "")


def median_cell(row: Row, scale: Scale) -> TableCell:
    """The median, and its 95 % interval."""
    if row.median is None:
        return table_cell("", "-")
    low, high = row.ci_low, row.ci_high
    ends = "" if low is None or high is None else scale.ends(low, high)
    return replace(table_cell(scale.number(row.median), small=ends), value=row.median)


def relation_cell(row: Row) -> TableCell:
    """How it compares with the baseline, and the 95 % interval of that."""
    words, shown = relation(row), interval(row)
    cell = table_cell(words, with_interval(words, shown), shown, row.verdict.replace(" ", "-"))
    value = 1 if row.baseline else "" if row.ratio is None else f"{row.ratio:.4g}"
    return replace(cell, value=value)


def strip_cell(row: Row, axis: Axis | None, scale: Scale) -> TableCell:
    if axis is None or not row.values or row.median is None:
        return table_cell("")
    drawn = strip.draw(
        row.values, row.median, axis, row.subject, scale.text, row.ci_low, row.ci_high
    )
    return TableCell("", "", mark="dots", svg=drawn)


def missing(row: Row | None) -> str:
    """Why there is no figure."""
    return "not measured" if row is None else row.note or spaced(row.status)


def _published(experiment: Experiment, row: Row, scale: Scale) -> TableCell:
    """In the unit of the table, with the report where figures of several stand in it."""
    found = published_figures(experiment, row.subject, row.cell)
    several = len({figure.report for figure in experiment.published}) > 1
    texts = [f"{f.value / scale.factor:g}{f' ({f.report})' if several else ''}" for f in found]
    hint = "\n".join(f"{f.report}; {f.machine}" for f in found)
    return replace(table_cell("; ".join(texts), ""), hint=hint)
