"""Rows of one group, ready for a table: one unit, one axis for all strips."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from heapwise.figures import strip
from heapwise.model import Row
from heapwise.report.view import Group
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import Scale, scale_for
from heapwise.wording.ratios import interval, relation


@dataclass(frozen=True)
class ColumnCell:
    """One row's part of a column. Empty strings where there is nothing to show."""

    row: Row
    median: str
    ends: str
    relation: str
    interval: str
    strip: Markup
    figures: dict[str, str]


@dataclass(frozen=True)
class Column:
    name: str
    unit: str
    meaning: str
    cells: dict[str, ColumnCell]


def column(group: Group, *, with_strip: bool) -> Column:
    scale = scale_for([row.min for row in group.rows], group.unit)
    meaning = next((q.meaning for q in group.experiment.quantities if q.name == group.quantity), "")
    return Column(
        quantity_name(group.quantity),
        scale.label,
        meaning,
        cells(group, scale, with_strip=with_strip),
    )


def cells(group: Group, scale: Scale, *, with_strip: bool) -> dict[str, ColumnCell]:
    axis = strip.shared_axis([row.values for row in group.rows]) if with_strip else None
    found = {}
    for row in group.rows:
        drawn = ""
        if axis and row.values and row.median is not None:
            drawn = strip.draw(
                row.values, row.median, axis, row.subject, scale.text, row.ci_low, row.ci_high
            )
        found[row.subject] = ColumnCell(
            row,
            _number(scale, row.median),
            _ends(scale, row),
            relation(row),
            interval(row),
            Markup(drawn),
            {
                name: _number(scale, getattr(row, name))
                for name in ("min", "median", "mean", "max", "stddev")
            },
        )
    return found


def _number(scale: Scale, value: float | None) -> str:
    return "" if value is None else scale.number(value)


def _ends(scale: Scale, row: Row) -> str:
    if row.ci_low is None or row.ci_high is None:
        return ""
    return f"{scale.number(row.ci_low)}–{scale.number(row.ci_high)}"
