"""The tables of a comparison: a row for each subject, and columns for each quantity."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from heapwise.document import DRAWING, TableCell, TextTable, table_cell
from heapwise.document.aligned import CI, LEAST_WIDTH, WIDTH, fitted
from heapwise.figures import strip
from heapwise.model import SIDE_BY_SIDE, Result, Row, Settings
from heapwise.study.experiments.cell_tables import (
    median_cell,
    missing,
    relation_cell,
    strip_cell,
)
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import Scale, scale_for
from heapwise.wording.ratios import interval, relation

SubjectRows = Mapping[str, Row]
"""Subject -> what was measured of one quantity."""


SPARE = ("system", "user", "cgroup peak", "min to max")
"""Columns that say least, the first one least of all."""


@dataclass(frozen=True)
class Column:
    """cells: subject -> cell; a subject without one has nothing there."""

    head: TableCell
    cells: Mapping[str, TableCell]


def table_of(subjects: Mapping[str, TableCell], columns: Sequence[Column]) -> TextTable:
    """subjects: name -> the first cell of its row."""
    empty = table_cell("")
    rows = [
        [cell, *(column.cells.get(name, empty) for column in columns)]
        for name, cell in subjects.items()
    ]
    return TextTable([empty, *(column.head for column in columns)], rows, fits=True, spare=SPARE)


def rows_of(
    result: Result, cell: Settings, quantity: str, *, controls: bool = False
) -> SubjectRows:
    hidden = () if controls else {s.name for s in result.run.plan.subjects if s.control}
    return {
        row.subject: row
        for row in result.rows
        if row.quantity == quantity and row.parameters == cell and row.subject not in hidden
    }


def figure_columns(rows: SubjectRows, name: str, *, ranges: bool = False) -> list[Column]:
    """The median, and how it compares with the baseline; where there is room, every sample."""
    scale = scale_of(rows)
    axis = strip.shared_axis([row.values for row in rows.values()])
    base = _baseline(rows)
    title = quantity_name(next((row.quantity for row in rows.values()), ""))
    heads = [
        TableCell(scale.heading(title), name, mark="number"),
        TableCell("", "min to max" if ranges else ""),
        TableCell("vs baseline", f"vs {base}", mark="relation"),
        TableCell("", CI),
        TableCell("every sample", "", mark=DRAWING),
    ]
    lines = {
        subject: [*_figure_cells(row, scale, ranges=ranges), strip_cell(row, axis, scale)]
        for subject, row in rows.items()
    }
    return [
        Column(head, {subject: line[at] for subject, line in lines.items()})
        for at, head in enumerate(heads)
    ]


def _baseline(rows: SubjectRows) -> str:
    return next((row.subject for row in rows.values() if row.baseline), "baseline")


def _figure_cells(row: Row, scale: Scale, *, ranges: bool) -> list[TableCell]:
    if row.median is None:
        return [TableCell(missing(row), missing(row), mark="missing"), *[table_cell("")] * 3]
    between = ""
    if ranges and row.min is not None and row.max is not None and row.n > 1:
        between = f"{scale.number(row.min)} to {scale.number(row.max)}"
    words = "-" if row.baseline else "cannot tell" if row.ratio is None else relation(row)
    return [
        replace(median_cell(row, scale), short=scale.text(row.median)),
        TableCell("", between),
        replace(relation_cell(row), short=words),
        TableCell("", "" if row.baseline else interval(row)),
    ]


def value_column(rows: SubjectRows, name: str, scale: Scale | None = None) -> list[Column]:
    """The medians alone; nothing if there is none."""
    if all(row.median is None for row in rows.values()):
        return []
    scale = scale or scale_of(rows)
    medians = {s: row.median for s, row in rows.items() if row.median is not None}
    return [_column(name, {s: scale.text(median) for s, median in medians.items()})]


def count_column(rows: SubjectRows, name: str) -> Column:
    """How many samples each subject has."""
    return _column(name, {s: str(row.n) for s, row in rows.items()})


def _column(name: str, texts: Mapping[str, str]) -> Column:
    return Column(table_cell(name), {subject: table_cell(text) for subject, text in texts.items()})


def compare_tables(result: Result, width: int | None = None) -> list[TextTable]:
    """For each cell, absolute figures and those against the baseline. Time and memory are side by
    side where the terminal is wide enough, else below each other."""
    cells = dict.fromkeys(row.parameters for row in result.rows)
    found: list[TextTable] = []
    for cell in cells:
        first, *others = _tables(result, cell, width or terminal_width())
        caption = str(cell) if len(cells) > 1 or cell else ""
        found += [replace(first, caption=caption), *others]
    return found


def _tables(result: Result, cell: Settings, width: int) -> list[TextTable]:
    def rows(quantity: str) -> SubjectRows:
        return rows_of(result, cell, quantity)

    times = rows("wall_time")
    subjects = {name: table_cell(name) for name in sorted(times, key=lambda s: _rank(times[s]))}
    user, system = rows("user_time"), rows("system_time")
    cpu = scale_for([row.median for row in (*user.values(), *system.values())], "s")
    faults = {s: r.median for s, r in rows("minor_faults").items() if r.median is not None}
    time = [
        count_column(times, "n"),
        *figure_columns(times, "time", ranges=True),
        *value_column(user, "user", cpu),
        *value_column(system, "system", cpu),
    ]
    memory = [
        *figure_columns(rows("peak_memory"), "peak memory", ranges=True),
        _column("page faults", {s: f"{median:,.0f}" for s, median in faults.items()}),
        *value_column(rows("group_peak"), "cgroup peak"),
    ]
    both = table_of(subjects, [*time, *memory])
    lines = [[shown.short for shown in line] for line in both.lines]
    is_wide = max(map(len, fitted(lines).splitlines()), default=0) > width
    found = [table_of(subjects, time), table_of(subjects, memory)] if is_wide else [both]
    beside = rows(SIDE_BY_SIDE)
    measured = any(row.median is not None for row in beside.values())
    return [*found, beside_table(beside, subjects)] if measured else found


def beside_table(
    rows: SubjectRows, subjects: Mapping[str, TableCell], title: str = "CPU time"
) -> TextTable:
    """How many pairs, and what they say. title: of the quantity."""
    base = _baseline(rows)
    pairs = {s: row for s, row in rows.items() if not row.baseline and row.median is not None}
    median, _, compared, ends, _ = figure_columns(rows, "")
    words = {s: compared.cells[s] if s in pairs else median.cells[s] for s in rows}
    words |= {base: compared.cells[base]} if base in rows else {}
    words |= {s: table_cell(missing(None)) for s in subjects if s not in rows}
    head = table_cell(f"{title}, side by side with {base}")
    columns = [count_column(pairs, "pairs"), Column(head, words), ends]
    return table_of(subjects, columns)


def terminal_width() -> int:
    if not sys.stdout.isatty():
        return WIDTH
    return max(LEAST_WIDTH, shutil.get_terminal_size().columns - 1)


def scale_of(rows: SubjectRows) -> Scale:
    unit = next((row.unit for row in rows.values()), "")
    return scale_for([row.median for row in rows.values()], unit)


def _rank(row: Row) -> tuple[Any, ...]:
    return (not row.baseline, row.median is None, row.median or 0.0)
