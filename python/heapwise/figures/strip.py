"""A strip: every kept sample of a row as a dot, its median as a tick. No bars, nothing hidden.

A report has hundreds of them, so the page's style says once how they look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heapwise.figures.axis import Axis, linear, logarithmic
from heapwise.figures.svg import Drawing, dots_path

WIDTH, HEIGHT = 180.0, 26.0
WIDE = 4.0
"""Rows that differ by more than this factor share a logarithmic axis."""

LANES = (0, 3, -3, 6, -6, 1.5, -1.5, 4.5, -4.5)
"""Heights over which dots are spread in turn, so that equal values stay visible."""


def shared_axis(groups: Sequence[Sequence[float]]) -> Axis | None:
    """One axis for all rows of a cell, so that their strips can be compared by eye."""
    values = [value for group in groups for value in group]
    if not values:
        return None
    if min(values) > 0 and max(values) / min(values) > WIDE:
        return logarithmic(values, 5, WIDTH - 5, 0.02)
    return linear(values, 5, WIDTH - 5, 0.02)


def draw(
    values: Sequence[float],
    median: float,
    axis: Axis,
    name: str,
    show: Callable[[float], str],
    low: float | None = None,
    high: float | None = None,
) -> str:
    """low, high: the median's interval, drawn behind the dots, as far as the axis goes."""
    drawing = Drawing(
        WIDTH, HEIGHT, f"{name}: {len(values)} samples, {show(min(values))} to {show(max(values))}"
    )
    middle = HEIGHT / 2
    if low is not None and high is not None:
        left, right = max(axis.place(low) - 1, 0), min(axis.place(high) + 1, WIDTH)
        drawing.add("rect", x=left, y=2, width=max(right - left, 0), height=HEIGHT - 4)
    places = (
        (axis.place(value), middle + LANES[place % len(LANES)])
        for place, value in enumerate(values)
    )
    drawing.add("path", d=dots_path(places))
    x = axis.place(median)
    drawing.add("line", x1=x, y1=2, x2=x, y2=HEIGHT - 2)
    return drawing.render("strip")
