"""The plane of time and memory: every way to manage memory one mark, or a curve of several."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.figures.axis import Axis, decade_ticks, logarithmic
from heapwise.figures.curves import bare
from heapwise.figures.labels import Rectangle, draw_label, place_labels
from heapwise.figures.svg import Drawing, series_colour, text_width
from heapwise.wording.numbers import ShowNumber

WIDTH, HEIGHT = 860.0, 600.0
FRAME = Rectangle(86, 40, 848, 540)
SIZE = 11.5

Extent = tuple[float, float, float]
"""Low, estimate, high; all the same where there is no interval."""


@dataclass(frozen=True)
class Mark:
    """``time`` and ``memory`` as the figure's words show them; ``name`` is under the pointer."""

    name: str
    time: Extent
    memory: Extent


@dataclass(frozen=True)
class Trail:
    """One mark, or several that are joined in their order. ``kind`` decides the colour."""

    name: str
    marks: list[Mark]
    kind: int


def draw(
    trails: list[Trail], kinds: list[str], title: str, show: tuple[ShowNumber, ShowNumber]
) -> str:
    """Time across, memory upwards, both logarithmic. kinds: the words of the legend, by number;
    none where each curve has a colour of its own."""
    marks = [mark for trail in trails for mark in trail.marks]
    across = logarithmic([v for m in marks for v in m.time], FRAME.left, FRAME.right, 0.06)
    up = logarithmic([v for m in marks for v in m.memory], FRAME.bottom, FRAME.top, 0.06)
    drawing = Drawing(WIDTH, HEIGHT, title, _description(trails, show))
    _grid(drawing, across, up, show)
    _legend(drawing, kinds, {trail.kind for trail in trails})
    crosses = [r for trail in trails for r in _trail(drawing, trail, across, up, show)]
    _names(drawing, trails, across, up, crosses)
    return drawing.render("figure plane")


def _grid(drawing: Drawing, across: Axis, up: Axis, show: tuple[ShowNumber, ShowNumber]) -> None:
    for tick in decade_ticks(across):
        words, x = bare(show[0](tick)), across.place(tick)
        drawing.line(x, FRAME.top, x, FRAME.bottom)
        drawing.text(
            min(x, WIDTH - text_width(words, 12) / 2), FRAME.bottom + 18, words, anchor="middle"
        )
    for tick in decade_ticks(up):
        y = up.place(tick)
        drawing.line(FRAME.left, y, FRAME.right, y)
        drawing.text(FRAME.left - 8, y + 4, bare(show[1](tick)), anchor="end")
    drawing.text(
        (FRAME.left + FRAME.right) / 2,
        HEIGHT - 12,
        "← faster · time · slower →",
        anchor="middle",
        fill="ink",
    )
    middle = (FRAME.top + FRAME.bottom) / 2
    drawing.text(
        14,
        middle,
        "← smaller · peak memory · larger →",
        anchor="middle",
        fill="ink",
        transform=f"rotate(-90 14 {middle:.0f})",
    )


def _legend(drawing: Drawing, kinds: list[str], present: set[int]) -> None:
    x = FRAME.left
    for kind in sorted(present) if kinds else []:
        drawing.dot(x + 5, 16, 5, series_colour(kind))
        drawing.text(x + 15, 20, kinds[kind], size=13, fill="ink")
        x += 34 + text_width(kinds[kind], 13)


def _trail(
    drawing: Drawing, trail: Trail, across: Axis, up: Axis, show: tuple[ShowNumber, ShowNumber]
) -> list[Rectangle]:
    """The ring of a curve is its first mark."""
    paint = series_colour(trail.kind)
    places = [(across.place(m.time[1]), up.place(m.memory[1])) for m in trail.marks]
    if len(places) > 1:
        drawing.add(
            "polyline",
            points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places),
            fill="none",
            stroke=paint,
            stroke_width=1.6,
            opacity=0.7,
        )
    found = []
    for number, (mark, (x, y)) in enumerate(zip(trail.marks, places, strict=True)):
        left, right = across.place(mark.time[0]), across.place(mark.time[2])
        top, bottom = up.place(mark.memory[2]), up.place(mark.memory[0])
        drawing.line(left, y, right, y, paint, 1.4)
        drawing.line(x, top, x, bottom, paint, 1.4)
        hint = f"{mark.name}: {show[0](mark.time[1])}, {show[1](mark.memory[1])}"
        if number == 0 and len(places) > 1:
            drawing.dot(x, y, 4.6, "paper", hint, stroke=paint, stroke_width=2)
        else:
            drawing.dot(x, y, 4, paint, hint)
        found += [Rectangle(left, y - 2, right, y + 2), Rectangle(x - 2, top, x + 2, bottom)]
    return found


def _names(
    drawing: Drawing, trails: list[Trail], across: Axis, up: Axis, lines: list[Rectangle]
) -> None:
    """At the last mark of each."""
    points = [
        (across.place(t.marks[-1].time[1]), up.place(t.marks[-1].memory[1]), t.name) for t in trails
    ]
    for label, trail in zip(place_labels(points, FRAME, lines, SIZE), trails, strict=True):
        draw_label(drawing, label, SIZE, series_colour(trail.kind))


def _description(trails: list[Trail], show: tuple[ShowNumber, ShowNumber]) -> str:
    return "; ".join(
        f"{mark.name} {show[0](mark.time[1])} {show[1](mark.memory[1])}"
        for trail in trails
        for mark in trail.marks
    )
