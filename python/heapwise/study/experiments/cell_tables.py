"""The rows of a result, in columns of one unit each."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.document import Notice, Passage, plain_table
from heapwise.document.aligned import Line
from heapwise.model import Cell, Result, Row, SubjectName
from heapwise.study.program.compare_table import missing
from heapwise.wording.numbers import scale_for, times
from heapwise.wording.ratios import ratio_ends


def experiment_tables(result: Result) -> list[Passage]:
    """A table for each cell: the five figures and the ratio."""
    groups: dict[Cell, list[Row]] = {}
    for row in result.rows:
        groups.setdefault(row.cell, []).append(row)
    return [passage for rows in groups.values() for passage in _experiment_table(rows)]


def _experiment_table(rows: Sequence[Row]) -> list[Passage]:
    first = rows[0]
    settings = "  ".join(f"{name}={value}" for name, value in first.parameters.items())
    title = f"{first.experiment}  {first.quantity}  {settings}".rstrip()
    scale = scale_for([row.median for row in rows], first.unit)
    lines: list[Line] = [
        [
            "",
            f"median {scale.label}".rstrip(),
            "min",
            "mean",
            "max",
            "stddev",
            "vs baseline",
            "(95 % CI)",
        ]
    ]
    for row in rows:
        figures = [row.median, row.min, row.mean, row.max, row.stddev]
        words = [scale.number(value) if value is not None else "-" for value in figures]
        if row.median is None:
            lines.append([row.subject, missing(row), "", "", "", "", "", ""])
        else:
            lines.append([row.subject, *words, *_ratio_cells(row)])
    return [plain_table(lines, title), *map(Notice, _notes(rows))]


def _notes(rows: Sequence[Row]) -> list[str]:
    """What has to be known of rows that have a ratio, each note once; controls need none."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.note and row.ratio is not None and not SubjectName.parse(row.subject).control:
            found.setdefault(row.note, []).append(row.subject)
    return [f"  {', '.join(subjects)}: {note}" for note, subjects in found.items()]


def _ratio_cells(row: Row) -> Line:
    if row.baseline:
        return ["baseline", ""]
    if row.ratio is None:
        return ["-", row.note]
    return [times(row.ratio), f"{ratio_ends(row)}  {row.verdict}".strip()]
