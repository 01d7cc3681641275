"""Labels that do not lie on each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from heapwise.figures.svg import Drawing, colour, text_width


@dataclass(frozen=True)
class Rectangle:
    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Rectangle) -> float:
        """Area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, width) * max(0.0, height)


@dataclass(frozen=True)
class Label:
    """Baseline position of a text and where it is anchored."""

    words: str
    x: float
    y: float
    anchor: str


def place_labels(
    points: list[tuple[float, float, str]],
    frame: Rectangle,
    obstacles: list[Rectangle],
    size: float = 12,
) -> list[Label]:
    """One label near each point: the candidate that covers least of points, labels and lines."""
    taken = [*obstacles, *(Rectangle(x - 6, y - 6, x + 6, y + 6) for x, y, _ in points)]
    found = []
    for x, y, words in points:
        options = _candidates(x, y, words, size)
        best = min(options, key=lambda option: _cost(_area(option, size), taken, frame))
        taken.append(_area(best, size))
        found.append(best)
    return found


def draw_label(drawing: Drawing, label: Label, size: float, fill: str) -> None:
    """With a margin, so that it can be read on lines."""
    drawing.text(
        label.x,
        label.y,
        label.words,
        size=size,
        anchor=label.anchor,
        fill=fill,
        font_weight=600,
        paint_order="stroke",
        stroke=colour("paper"),
        stroke_width=3,
        stroke_linejoin="round",
    )


def _candidates(x: float, y: float, words: str, size: float) -> list[Label]:
    found = []
    for distance in (9.0, 18.0, 30.0):
        up, down = y - distance + 3, y + distance + size * 0.6
        found += [
            Label(words, x + distance, up, "start"),
            Label(words, x - distance, up, "end"),
            Label(words, x + distance, down, "start"),
            Label(words, x - distance, down, "end"),
            Label(words, x, up - 4, "middle"),
            Label(words, x, down + 4, "middle"),
        ]
    return found


def _area(label: Label, size: float) -> Rectangle:
    width = text_width(label.words, size)
    left = label.x - {"start": 0.0, "middle": width / 2, "end": width}[label.anchor]
    return Rectangle(left - 2, label.y - size, left + width + 2, label.y + size * 0.3)


def _cost(area: Rectangle, taken: list[Rectangle], frame: Rectangle) -> float:
    size = (area.right - area.left) * (area.bottom - area.top)
    outside = size - area.overlap(frame)
    return sum(area.overlap(other) for other in taken) + 4 * outside


def spread(places: list[float], gap: float, low: float, high: float) -> list[float]:
    """The places moved apart to at least ``gap``, in order, within low ... high where possible."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + gap)
    surplus = moved[order[-1]] - high if order else 0.0
    if surplus > 0:
        limit = high
        for i in reversed(order):
            moved[i] = min(moved[i], limit)
            limit = moved[i] - gap
    return [max(low, place) for place in moved]
