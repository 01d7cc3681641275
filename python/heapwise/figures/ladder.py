"""The ladder: the cells of an experiment below each other, all subjects on one axis.

One axis for all, from zero where it is linear, so that a difference between cells looks as large
as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.figures.axis import Axis, decade_ticks, even_ticks, logarithmic
from heapwise.figures.curves import bare
from heapwise.figures.strip import WIDE
from heapwise.figures.svg import Drawing, text_width
from heapwise.model import Row
from heapwise.wording.names import spaced
from heapwise.wording.numbers import Scale

WIDTH, LINE, HEAD, FOOT = 760.0, 21.0, 25.0, 50.0
SIZE = 12.0
NAMES = 220.0
"""The widest column of names; what is longer ends in dots."""

FIGURES = 150.0
"""For a median and its interval, at the right."""


@dataclass(frozen=True)
class LadderStep:
    """One cell; an empty title has no line of its own."""

    title: str
    rows: list[Row]


def draw(steps: list[LadderStep], scale: Scale, title: str, better: str) -> str:
    """Medians with 95 % intervals in ``scale``; rows without a median say why."""
    names = min(NAMES, 20 + max(text_width(r.subject, SIZE) for s in steps for r in s.rows))
    values = [
        v for s in steps for r in s.rows for v in (r.median, r.ci_low, r.ci_high) if v is not None
    ]
    axis = _axis(values, names, WIDTH - FIGURES)
    high = sum(HEAD * bool(s.title) + LINE * len(s.rows) for s in steps)
    drawing = Drawing(WIDTH, high + FOOT, title, _description(steps, scale))
    _ticks(drawing, axis, scale, high)
    top = 0.0
    for step in steps:
        if step.title:
            drawing.text(4, top + HEAD - 7, step.title, size=SIZE, fill="ink", font_weight=600)
            top += HEAD
        for row in step.rows:
            _line(drawing, axis, scale, row, names, top + LINE / 2)
            top += LINE
    arrow = "← better" if better == "lower" else "better →"
    unit = f"{scale.label}, " if scale.label else ""
    drawing.text((axis.start + axis.end) / 2, high + 40, f"{unit}{arrow}", anchor="middle")
    return drawing.render("figure ladder")


def _axis(values: list[float], start: float, end: float) -> Axis:
    if min(values) > 0 and max(values) / min(values) > WIDE:
        return logarithmic(values, start + 4, end - 4, 0.04)
    return Axis(min(0.0, min(values)), max(values) * 1.04 or 1.0, start + 4, end - 4)


def _ticks(drawing: Drawing, axis: Axis, scale: Scale, bottom: float) -> None:
    ticks = decade_ticks(axis, 7) if axis.is_log else even_ticks(axis.low, axis.high, 6)
    for tick in ticks:
        drawing.line(axis.place(tick), 4, axis.place(tick), bottom)
        drawing.text(
            axis.place(tick), bottom + 18, bare(scale.number(tick)), size=11, anchor="middle"
        )


def _line(drawing: Drawing, axis: Axis, scale: Scale, row: Row, names: float, y: float) -> None:
    room = int((NAMES - 20) / text_width("x", SIZE))
    name = row.subject if len(row.subject) <= room else f"{row.subject[: room - 1]}…"
    drawing.text(names - 8, y + 4, name, size=SIZE, anchor="end")
    if row.median is None:
        drawing.text(axis.start, y + 4, spaced(row.status), size=11, fill="worse")
        return
    if row.ci_low is not None and row.ci_high is not None:
        drawing.stroke(axis.place(row.ci_low), y, axis.place(row.ci_high), y, "accent", 3.5)
    drawing.dot(axis.place(row.median), y, 4, "accent", f"{row.subject}: {_figures(row, scale)}")
    drawing.text(WIDTH - FIGURES + 10, y + 4, _figures(row, scale), size=11)


def _figures(row: Row, scale: Scale) -> str:
    words = scale.number(row.median or 0.0)
    if row.ci_low is None or row.ci_high is None:
        return words
    return f"{words}, {scale.number(row.ci_low)}–{scale.number(row.ci_high)}"


def _description(steps: list[LadderStep], scale: Scale) -> str:
    return "; ".join(
        ", ".join(
            [
                *([step.title] if step.title else []),
                *(
                    f"{row.subject} {scale.text(row.median)}"
                    for row in step.rows
                    if row.median is not None
                ),
            ]
        )
        for step in steps
    )
