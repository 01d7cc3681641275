"""One series of a history: a dot for each run, the level between changes, seams as dashed lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heapwise.figures.axis import Axis, even_ticks, linear
from heapwise.figures.curves import bare
from heapwise.figures.svg import Drawing, colour

WIDTH, HEIGHT = 720.0, 200.0
LEFT, RIGHT, TOP, BOTTOM = 84.0, 706.0, 12.0, 172.0


@dataclass(frozen=True)
class Level:
    """From one place up to another, without it. worse: than the level before it."""

    begin: int
    end: int
    value: float
    worse: bool = False


def draw(
    values: list[float],
    hints: list[str],
    levels: list[Level],
    seams: list[int],
    title: str,
    show: Callable[[float], str],
) -> str:
    """hints: what a tooltip says of each value."""
    across = Axis(-0.5, len(values) - 0.5, LEFT, RIGHT)
    up = linear(values, BOTTOM, TOP)
    drawing = Drawing(WIDTH, HEIGHT, title, f"{len(values)} runs, the last {show(values[-1])}")
    for tick in even_ticks(up.low, up.high, 4):
        drawing.line(LEFT, up.place(tick), RIGHT, up.place(tick))
        drawing.text(LEFT - 8, up.place(tick) + 4, bare(show(tick)), anchor="end")
    for place in seams:
        x = across.place(place - 0.5)
        drawing.line(x, TOP, x, BOTTOM, "soft", 1, stroke_dasharray="4 3")
    for level in levels:
        y = up.place(level.value)
        drawing.line(
            across.place(level.begin - 0.5),
            y,
            across.place(level.end - 0.5),
            y,
            "worse" if level.worse else "accent",
            2,
        )
    for place, (value, hint) in enumerate(zip(values, hints, strict=True)):
        drawing.dot(across.place(place), up.place(value), 2.6, colour("ink"), hint, opacity=0.7)
    drawing.text(
        (LEFT + RIGHT) / 2,
        HEIGHT - 8,
        "runs, in the order of their commits →",
        anchor="middle",
        fill="ink",
    )
    return drawing.render("figure history")
