"""Lines of several subjects with their names at the right end: what two figures share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from heapwise.figures.axis import Axis, decade_ticks, logarithmic
from heapwise.figures.labels import spread
from heapwise.figures.svg import PALETTE, Drawing, series_colour, text_width

WIDTH, HEIGHT = 720.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 70.0, 560.0, 14.0, 310.0
GAP = 6.0
"""Between two labels of the x axis; one that would come closer is left out."""

BOLD = 13.5
"""The size that text of 12 in bold takes, by its width."""


@dataclass(frozen=True)
class Knot:
    """One place of a line: slot on the x axis, value, interval, raw samples (may be empty)."""

    slot: int
    value: float
    low: float | None = None
    high: float | None = None
    raw: tuple[float, ...] = ()


@dataclass(frozen=True)
class Curve:
    name: str
    knots: list[Knot] = field(default_factory=list)


def draw(
    curves: list[Curve],
    slots: list[str],
    title: str,
    x_title: str,
    show: Callable[[float], str],
    class_: str,
) -> str:
    """Values above zero, on a logarithmic axis; ``show`` writes them with their unit. The figure
    of no curve is empty."""
    if not curves:
        return ""
    values = [v for c in curves for k in c.knots for v in (k.value, *k.raw, k.low, k.high) if v]
    up = logarithmic(values, BOTTOM, TOP, 0.04)
    ticks = [(tick, bare(show(tick))) for tick in decade_ticks(up)]
    left = max(LEFT, 16 + max((text_width(words, 12) for _, words in ticks), default=0.0))
    places = _places(len(slots), left)
    longest = max((text_width(curve.name, BOLD) for curve in curves), default=0.0)
    wide = max(WIDTH, RIGHT + 12 + longest)
    drawing = Drawing(wide, HEIGHT, title, _description(curves, slots, show))
    for tick, words in ticks:
        drawing.line(left, up.place(tick), RIGHT, up.place(tick))
        drawing.text(left - 8, up.place(tick) + 4, words, anchor="end")
    free = 0.0
    for x, words in zip(places, slots, strict=True):
        half = text_width(words, 12) / 2
        if x - half >= free:
            drawing.text(x, BOTTOM + 20, words, anchor="middle")
            free = x + half + GAP
    drawing.text((left + RIGHT) / 2, HEIGHT - 8, x_title, anchor="middle", fill="ink")
    for number, curve in enumerate(curves):
        _curve(drawing, curve, places, up, number, show)
    _names(drawing, curves, up, places)
    return drawing.render(f"figure {class_}")


def bare(words: str) -> str:
    """``50.0 ns/op`` -> ``50 ns/op``: a tick is exact, its zeros say nothing."""
    return re.sub(r"\.0+(?=\D|$)|(\.\d*[1-9])0+(?=\D|$)", r"\1", words)


def _places(number: int, left: float) -> list[float]:
    if number == 1:
        return [(left + RIGHT) / 2]
    step = (RIGHT - left - 60) / (number - 1)
    return [left + 30 + step * place for place in range(number)]


def _curve(
    drawing: Drawing,
    curve: Curve,
    places: list[float],
    up: Axis,
    number: int,
    show: Callable[[float], str],
) -> None:
    """Colours that come round again come dashed."""
    paint, dashes = series_colour(number), "5 3" if number >= len(PALETTE) else None
    path = " ".join(f"{places[k.slot]:.1f},{up.place(k.value):.1f}" for k in curve.knots)
    drawing.add(
        "polyline",
        points=path,
        fill="none",
        stroke=paint,
        stroke_width=1.8,
        stroke_dasharray=dashes,
    )
    for knot in curve.knots:
        x = places[knot.slot]
        drawing.dots(((x, up.place(value)) for value in knot.raw), 1.6, paint, opacity=0.35)
        if knot.low and knot.high:
            drawing.stroke(x, up.place(knot.low), x, up.place(knot.high), paint, 3)
        drawing.dot(x, up.place(knot.value), 3.4, paint, f"{curve.name}: {show(knot.value)}")


def _names(drawing: Drawing, curves: list[Curve], up: Axis, places: list[float]) -> None:
    ends = [up.place(c.knots[-1].value) for c in curves]
    moved = spread(ends, 15, TOP + 6, BOTTOM)
    for number, (curve, end, y) in enumerate(zip(curves, ends, moved, strict=True)):
        x, paint = places[curve.knots[-1].slot], series_colour(number)
        drawing.add(
            "path",
            d=f"M{x + 6:.1f} {end:.1f} L{RIGHT - 14:.1f} {end:.1f} L{RIGHT + 4:.1f} {y:.1f}",
            fill="none",
            stroke=paint,
            opacity=0.4,
        )
        drawing.text(RIGHT + 8, y + 4, curve.name, size=12, fill=paint, font_weight=600)


def _description(curves: list[Curve], slots: list[str], show: Callable[[float], str]) -> str:
    return "; ".join(
        f"{c.name}: " + ", ".join(f"{slots[k.slot]} {show(k.value)}" for k in c.knots)
        for c in curves
    )
