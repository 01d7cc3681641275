"""A published figure beside ours: a ring for the report's, a dot with its interval for ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heapwise.figures.axis import decade_ticks, logarithmic
from heapwise.figures.curves import bare
from heapwise.figures.svg import Drawing, text_width

LINE, TOP, FOOT, RIGHT = 22.0, 40.0, 34.0, 720.0
WIDEST = 360.0
"""The width of the names of the rows."""


@dataclass(frozen=True)
class PublishedMark:
    """One line of the figure. Values above zero; None where there is none."""

    name: str
    published: float | None
    ours: float | None = None
    low: float | None = None
    high: float | None = None


def draw(marks: list[PublishedMark], title: str, show: Callable[[float], str]) -> str:
    """On one logarithmic axis; "" if nothing is above zero."""
    values = [
        v for mark in marks for v in (mark.published, mark.ours, mark.low, mark.high) if v and v > 0
    ]
    if not values:
        return ""
    left = min(WIDEST, 16 + max(text_width(mark.name, 12) for mark in marks))
    bottom = TOP + LINE * len(marks)
    across = logarithmic(values, left + 10, RIGHT - 20)
    drawing = Drawing(RIGHT, bottom + FOOT, title, "; ".join(_words(m, show) for m in marks))
    _legend(drawing, left)
    for tick in decade_ticks(across, 6):
        x = across.place(tick)
        drawing.line(x, TOP - 6, x, bottom)
        drawing.text(x, bottom + 18, bare(show(tick)), anchor="middle")
    for number, mark in enumerate(marks):
        y = TOP + LINE * (number + 0.5)
        drawing.text(left, y + 4, mark.name, anchor="end", fill="ink")
        if mark.low and mark.high:
            drawing.stroke(across.place(mark.low), y, across.place(mark.high), y, "accent", 3)
        if mark.ours and mark.ours > 0:
            drawing.dot(across.place(mark.ours), y, 4, "accent", f"here {show(mark.ours)}")
        if mark.published and mark.published > 0:
            drawing.dot(
                across.place(mark.published),
                y,
                4.5,
                "none",
                f"published {show(mark.published)}",
                stroke="var(--worse)",
                stroke_width=1.6,
            )
    return drawing.render("figure published")


def _legend(drawing: Drawing, left: float) -> None:
    drawing.dot(left + 14, 14, 4.5, "none", stroke="var(--worse)", stroke_width=1.6)
    drawing.text(left + 24, 18, "published")
    drawing.dot(left + 104, 14, 4, "accent")
    drawing.text(left + 114, 18, "here, with its 95 % interval")


def _words(mark: PublishedMark, show: Callable[[float], str]) -> str:
    values = [
        f"{name} {show(value)}"
        for name, value in (("published", mark.published), ("here", mark.ours))
        if value is not None
    ]
    return f"{mark.name}: {', '.join(values)}" if values else mark.name
