"""Live bytes over the time of a trace."""

from __future__ import annotations

from math import log2

from heapwise.figures.axis import Axis
from heapwise.figures.svg import Drawing
from heapwise.wording.numbers import show, size

WIDTH, HEIGHT = 720.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 84.0, 706.0, 12.0, 186.0


def draw(points: list[tuple[int, int]], unit: float) -> str:
    """points: (time, bytes). unit: nanoseconds of one step of time, 0 if that is not known."""
    most = max(bytes_ for _, bytes_ in points)
    begin, end = points[0][0], max(points[-1][0], points[0][0] + 1)
    across, up = Axis(begin, end, LEFT, RIGHT), Axis(0.0, max(1.0, most * 1.05), BOTTOM, TOP)
    drawing = Drawing(WIDTH, HEIGHT, "Live bytes over time", f"at most {size(most)}")
    step = 2.0 ** round(log2(up.high / 4))
    for place in range(int(up.high / step) + 1):
        tick = place * step
        drawing.line(LEFT, up.place(tick), RIGHT, up.place(tick))
        drawing.text(LEFT - 8, up.place(tick) + 4, size(tick), anchor="end")
    places = [(across.place(time), up.place(bytes_)) for time, bytes_ in points]
    steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    first, last = places[0][0], places[-1][0]
    drawing.add(
        "path",
        d=f"M{first:.1f} {BOTTOM}L{steps}L{last:.1f} {BOTTOM}Z",
        fill="var(--accent)",
        opacity=0.18,
    )
    drawing.add("path", d=f"M{steps}", fill="none", stroke="var(--accent)", stroke_width=1.4)
    for part in range(5):
        time = begin + (end - begin) * part / 4
        drawing.text(
            across.place(time),
            BOTTOM + 17,
            show(time * unit, "ns") if unit else f"{time:.0f}",
            anchor=("start", "middle", "middle", "middle", "end")[part],
        )
    return drawing.render("figure live-bytes")
