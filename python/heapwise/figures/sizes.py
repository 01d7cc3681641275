"""How large the requests are: a bar for each power of two."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.figures.axis import even_ticks
from heapwise.figures.svg import Drawing
from heapwise.wording.numbers import percent, size

WIDTH, HEIGHT = 720.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 706.0, 24.0, 186.0
LABELS = 11
"""The labels of up to this many sizes fit beside each other."""


def draw(counts: Sequence[int], title: str) -> str:
    """counts[k]: requests of more than 2^(k-1) and at most 2^k bytes; counts[0]: 0 or 1 byte."""
    filled = [place for place, count in enumerate(counts) if count]
    first, last = filled[0], filled[-1]
    total = sum(counts)
    step = (RIGHT - LEFT) / (last - first + 1)
    top = max(counts) / total
    drawing = Drawing(WIDTH, HEIGHT, title, f"{total:,} requests by size, powers of two")
    for tick in even_ticks(0, top * 1.02, 4):
        y = BOTTOM - tick / top * (BOTTOM - TOP)
        drawing.line(LEFT, y, RIGHT, y)
        drawing.text(LEFT - 8, y + 4, f"{tick * 100:g} %", anchor="end")
    every = -(-(last - first + 1) // LABELS)
    for place in range(first, last + 1):
        share = counts[place] / total
        height = share / top * (BOTTOM - TOP)
        x = LEFT + (place - first) * step
        words = f"{span(place)}: {counts[place]:,} requests, {percent(share)}"
        drawing.box(
            x + step * 0.1,
            BOTTOM - max(height, 1.0 if share else 0.0),
            step * 0.8,
            max(height, 1.0 if share else 0.0),
            "accent",
            hint=words,
        )
        if (place - first) % every == 0:
            drawing.text(x + step / 2, BOTTOM + 17, size(2.0**place), anchor="middle")
    drawing.text(
        (LEFT + RIGHT) / 2,
        HEIGHT - 8,
        "at most this many bytes in a request",
        anchor="middle",
        fill="ink",
    )
    return drawing.render("figure sizes")


def span(place: int) -> str:
    """``33 to 64 B``."""
    if place < 2:
        return ("0 or 1 B", "2 B")[place]
    return f"{2 ** (place - 1) + 1:,} to {2**place:,} B"
