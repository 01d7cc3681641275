"""What the pictures of a reproduced report show, and how they look as SVG."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

from heapwise.figures import curves, published
from heapwise.model import Picture, PublishedFigure
from heapwise.study.reproduce.ours import Ours
from heapwise.study.reproduce.reproduced import Reproduced, ReproducedTable
from heapwise.wording.numbers import significant


@dataclass(frozen=True)
class ChartLine:
    """A column of a table over its rows; None where there is no figure."""

    name: str
    is_ours: bool
    values: list[float | None]
    ends: list[tuple[float, float] | None] = field(default_factory=list)


@dataclass(frozen=True)
class Chart:
    """``marks`` of a picture of dots, ``lines`` over ``slots`` of one of lines. ``unit`` is that of
    the report."""

    name: str
    title: str
    unit: str
    marks: list[published.PublishedMark]
    slots: list[str] = field(default_factory=list)
    rows_are: str = ""
    lines: list[ChartLine] = field(default_factory=list)

    def show(self, value: float) -> str:
        return f"{significant(value)} {self.unit}".rstrip()


def charts(found: Reproduced) -> list[Chart]:
    """One of each picture of the report."""
    tables = {each.table.name: each for each in found.tables}
    return [_chart(picture, tables[picture.table]) for picture in found.report.pictures]


def svg(chart: Chart) -> str:
    """With the variables of a page for colours; "" if nothing can be drawn."""
    if not chart.lines:
        return published.draw(chart.marks, chart.title, chart.show)
    drawn = [
        curves.Curve(
            f"{line.name}, {'here' if line.is_ours else 'published'}",
            [
                curves.Knot(slot, value, *(ends or (None, None)))
                for slot, (value, ends) in enumerate(zip(line.values, line.ends, strict=True))
                if value
            ],
        )
        for line in chart.lines
    ]
    return curves.draw(
        [curve for curve in drawn if curve.knots],
        chart.slots,
        chart.title,
        chart.rows_are,
        chart.show,
        "published",
    )


def _chart(picture: Picture, found: ReproducedTable) -> Chart:
    """Columns in the unit of the first figure; others would need an axis of their own. Each figure
    is brought into that unit by its scale."""
    found = _of_rows(found, picture.rows) if picture.rows else found
    table = found.table
    first = next(table.figures)
    base, scale = first.unit, first.scale
    kept = [
        at for at in range(len(table.columns)) if _kind(table.rows[0].figures[at]) == _kind(first)
    ]
    if picture.kind == "lines":
        lines = [
            _line(table.columns[at], found, at, is_ours) for at in kept for is_ours in (False, True)
        ]
        return Chart(
            picture.name,
            picture.title,
            base,
            [],
            [row.title for row in table.rows],
            table.rows_are,
            [line for line in lines if any(line.values)],
        )
    marks = [
        _mark(
            row.title if len(kept) == 1 else f"{row.title}, {table.columns[at]}",
            row.figures[at],
            ours[at],
            row.figures[at].scale / scale,
        )
        for row, ours in zip(table.rows, found.ours, strict=True)
        for at in kept
        if _kind(row.figures[at]) == _kind(first) or row.figures[at].value is not None
    ]
    return Chart(picture.name, picture.title, base, marks)


def _of_rows(found: ReproducedTable, beginning: str) -> ReproducedTable:
    """Those rows alone, without what all of them begin with."""
    kept = [at for at, row in enumerate(found.table.rows) if row.title.startswith(beginning)]
    rows = [found.table.rows[at] for at in kept]
    bare = [replace(row, title=row.title.removeprefix(beginning).strip(" ,")) for row in rows]
    return replace(
        found,
        table=replace(found.table, rows=tuple(bare)),
        ours=[found.ours[at] for at in kept],
        author=[found.author[at] for at in kept] if found.author else [],
    )


def _kind(figure: PublishedFigure) -> tuple[bool, float, str]:
    """What may share an axis: values with values, and no shares with times."""
    return (
        figure.ours is not None and figure.ours.value_of is None,
        figure.offset,
        figure.unit.partition(" ")[2] or figure.unit,
    )


def _mark(name: str, figure: PublishedFigure, ours: Ours, factor: float) -> published.PublishedMark:
    scaled = partial(_times, factor)
    return published.PublishedMark(
        name, scaled(figure.value), scaled(ours.value), scaled(ours.low), scaled(ours.high)
    )


def _line(name: str, found: ReproducedTable, at: int, is_ours: bool) -> ChartLine:
    ours = [line[at] for line in found.ours]
    if not is_ours:
        return ChartLine(
            name, False, [row.figures[at].value for row in found.table.rows], [None] * len(ours)
        )
    return ChartLine(
        name,
        True,
        [each.value for each in ours],
        [(each.low, each.high) if each.low and each.high else None for each in ours],
    )


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else value * factor
