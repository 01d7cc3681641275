"""Run order: every process as a dot where it was run, so that drift shows."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.figures.axis import Axis, even_ticks
from heapwise.figures.svg import Drawing, series_colour
from heapwise.wording.numbers import tick_percent

WIDTH, HEIGHT = 720.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 700.0, 12.0, 184.0
LEAST_SPAN = 0.02


@dataclass(frozen=True)
class OrderPoint:
    """One process: ``relative`` is its value over the median of its own subject and cell."""

    number: int
    subject: str
    relative: float


def draw(moments: list[OrderPoint], title: str) -> str:
    """A level cloud is what one wants to see."""
    names = list(dict.fromkeys(m.subject for m in sorted(moments, key=lambda m: m.subject)))
    farthest = max(LEAST_SPAN, *(abs(m.relative - 1) for m in moments)) * 1.1
    numbers = [m.number for m in moments]
    across = Axis(min(numbers) - 1, max(numbers) + 1, LEFT, RIGHT)
    up = Axis(max(1 - farthest, 0.0), 1 + farthest, BOTTOM, TOP)
    drawing = Drawing(WIDTH, HEIGHT, title, f"{len(moments)} processes in the order they ran")
    for tick in even_ticks(up.low - 1, up.high - 1, 4):
        y = up.place(1 + tick)
        drawing.line(LEFT, y, RIGHT, y, "line")
        drawing.text(LEFT - 8, y + 4, tick_percent(tick) if tick else "median", anchor="end")
    for place, name in enumerate(names):
        drawing.dots(
            (
                (across.place(moment.number), up.place(moment.relative))
                for moment in moments
                if moment.subject == name
            ),
            2.6,
            series_colour(place),
            name,
            opacity=0.8,
        )
    drawing.text(
        (LEFT + RIGHT) / 2,
        HEIGHT - 10,
        "processes, in the order in which they ran →",
        anchor="middle",
        fill="ink",
    )
    return drawing.render("figure order")
