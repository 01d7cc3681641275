"""Memory over the time of a process: a line for each subject in the band of its processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heapwise.figures.axis import Axis, even_ticks
from heapwise.figures.curves import bare
from heapwise.figures.labels import spread
from heapwise.figures.svg import PALETTE, Drawing, series_colour, text_width

WIDTH, HEIGHT = 720.0, 330.0
LEFT, RIGHT, TOP, BOTTOM = 78.0, 580.0, 14.0, 282.0
BOLD = 13.5


@dataclass(frozen=True)
class DrawnCurve:
    """seconds, low, middle, high: shape (n,), n >= 1."""

    name: str
    seconds: list[float]
    low: list[float]
    middle: list[float]
    high: list[float]


def draw(
    lines: list[DrawnCurve], title: str, show: Callable[[float], str], factor: float = 1.0
) -> str:
    """Both axes begin at zero. factor: how many units of the values one shown unit has, so that
    ticks are round."""
    across = Axis(0, max(line.seconds[-1] for line in lines) or 1.0, LEFT, RIGHT)
    up = Axis(0, max(max(line.high) for line in lines) * 1.06 or 1.0, BOTTOM, TOP)
    longest = max(text_width(line.name, BOLD) for line in lines)
    drawing = Drawing(max(WIDTH, RIGHT + 12 + longest), HEIGHT, title, _description(lines, show))
    for tick in even_ticks(0, up.high / factor, 5):
        y = up.place(tick * factor)
        drawing.line(LEFT, y, RIGHT, y)
        drawing.text(LEFT - 8, y + 4, bare(show(tick * factor)), anchor="end")
    for tick in even_ticks(0, across.high, 6):
        drawing.text(across.place(tick), BOTTOM + 18, f"{tick:g} s", anchor="middle")
    drawing.text(
        (LEFT + RIGHT) / 2,
        HEIGHT - 8,
        "time since the start of the process →",
        anchor="middle",
        fill="ink",
    )
    for number, line in enumerate(lines):
        _band(drawing, line, across, up, number)
    for number, line in enumerate(lines):
        _middle(drawing, line, across, up, number, show)
    _names(drawing, lines, across, up)
    return drawing.render("figure memory")


def _band(drawing: Drawing, line: DrawnCurve, across: Axis, up: Axis, number: int) -> None:
    edge = [
        *zip(line.seconds, line.high, strict=True),
        *zip(reversed(line.seconds), reversed(line.low), strict=True),
    ]
    drawing.add(
        "polygon", points=_points(edge, across, up), fill=series_colour(number), opacity=0.14
    )


def _middle(
    drawing: Drawing,
    line: DrawnCurve,
    across: Axis,
    up: Axis,
    number: int,
    show: Callable[[float], str],
) -> None:
    drawing.add(
        "polyline",
        "",
        f"{line.name}: {show(line.middle[-1])} at the end",
        points=_points(list(zip(line.seconds, line.middle, strict=True)), across, up),
        fill="none",
        stroke=series_colour(number),
        stroke_width=1.8,
        stroke_dasharray="5 3" if number >= len(PALETTE) else None,
    )


def _points(places: list[tuple[float, float]], across: Axis, up: Axis) -> str:
    return " ".join(f"{across.place(x):.1f},{up.place(y):.1f}" for x, y in places)


def _names(drawing: Drawing, lines: list[DrawnCurve], across: Axis, up: Axis) -> None:
    ends = [up.place(line.middle[-1]) for line in lines]
    moved = spread(ends, 15, TOP + 6, BOTTOM)
    for number, (line, end, y) in enumerate(zip(lines, ends, moved, strict=True)):
        x, paint = across.place(line.seconds[-1]), series_colour(number)
        drawing.add(
            "path",
            d=f"M{x + 3:.1f} {end:.1f} L{RIGHT + 4:.1f} {y:.1f}",
            fill="none",
            stroke=paint,
            opacity=0.4,
        )
        drawing.text(RIGHT + 8, y + 4, line.name, fill=paint, font_weight=600)


def _description(lines: list[DrawnCurve], show: Callable[[float], str]) -> str:
    return "; ".join(
        f"{line.name}: most {show(max(line.middle))}, at the end {show(line.middle[-1])}"
        for line in lines
    )
