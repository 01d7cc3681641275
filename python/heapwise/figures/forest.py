"""The forest: one line per subject, its ratio to the baseline with the 95 % interval."""

from __future__ import annotations

from math import inf

from heapwise.figures.axis import Axis, is_wide, logarithmic, ratio_label, ratio_ticks
from heapwise.figures.svg import Drawing, text_width
from heapwise.model import Row
from heapwise.wording.numbers import significant, times

WIDTH, LINE, TOP = 720.0, 24.0, 14.0
COLOURS = {"better": "accent", "worse": "worse"}


def draw(rows: list[Row], title: str, floor: float | None = None) -> str:
    """Rows of one cell and quantity, baseline among them, by ratio; those without say why."""
    rows = sorted(rows, key=lambda row: row.ratio or (1.0 if row.baseline else inf))
    left = 24 + max(text_width(row.subject, 13) for row in rows)
    left = min(left, 240)
    ratios = [v for r in rows for v in (r.ratio, r.ratio_low, r.ratio_high) if v]
    axis = logarithmic([1.0, 1.02, 0.98, *ratios], left + 10, WIDTH - 150, 0.05)
    height = TOP + LINE * len(rows) + 40
    drawing = Drawing(WIDTH, height, title, _description(rows))
    bottom = TOP + LINE * len(rows)
    if floor:
        start = max(axis.start, axis.place(1 / (1 + floor)))
        stop = min(axis.end, axis.place(1 + floor))
        drawing.box(start, TOP - 6, stop - start, bottom - TOP + 6, "band", opacity=0.75)
    _ticks(drawing, axis, bottom)
    for place, row in enumerate(rows):
        _line(drawing, axis, row, left, TOP + LINE * place + LINE / 2)
    return drawing.render("figure forest")


def _ticks(drawing: Drawing, axis: Axis, bottom: float) -> None:
    wide = is_wide(axis)
    for tick in ratio_ticks(axis, 5):
        same = abs(tick - 1) < 1e-9
        x = axis.place(tick)
        drawing.line(
            x,
            TOP - 6,
            x,
            bottom,
            "soft" if same else "line",
            stroke_dasharray="3 3" if same else None,
        )
        drawing.text(x, bottom + 18, ratio_label(tick, wide), anchor="middle")


def _line(drawing: Drawing, axis: Axis, row: Row, left: float, y: float) -> None:
    drawing.text(left, y + 4, row.subject, size=13, anchor="end", fill="ink")
    if row.baseline:
        drawing.dot(axis.place(1), y, 4, "ink", "the baseline")
        drawing.text(WIDTH - 138, y + 4, "baseline")
        return
    if row.ratio is None:
        drawing.text(axis.start, y + 4, row.note or row.status, fill="worse")
        return
    paint = COLOURS.get(row.verdict, "soft")
    if row.ratio_low and row.ratio_high:
        drawing.stroke(axis.place(row.ratio_low), y, axis.place(row.ratio_high), y, paint, 3)
    drawing.dot(axis.place(row.ratio), y, 4.5, paint, _words(row))
    drawing.text(WIDTH - 138, y + 4, _figures(row), fill="ink")


def _figures(row: Row) -> str:
    if row.ratio is None:
        return ""
    if row.ratio_low is None or row.ratio_high is None:
        return times(row.ratio)
    return f"{times(row.ratio)}  {significant(row.ratio_low)}–{significant(row.ratio_high)}"


def _words(row: Row) -> str:
    return f"{row.subject}: {_figures(row)}, {row.verdict}"


def _description(rows: list[Row]) -> str:
    return "; ".join(_words(row) for row in rows if row.ratio is not None)
