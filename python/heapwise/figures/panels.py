"""Panels: one small chart for each workload, the same subjects in the same order in all of them."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.figures.axis import Axis, decade_ticks, even_ticks, linear, logarithmic
from heapwise.figures.curves import bare
from heapwise.figures.strip import WIDE
from heapwise.figures.svg import Drawing, text_width
from heapwise.model import Row
from heapwise.wording.names import spaced
from heapwise.wording.numbers import Scale

WIDTH, LINE, HEAD, FOOT, GAP = 820.0, 20.0, 26.0, 44.0, 26.0
SIZE = 12.0
ACROSS = 3
"""Panels beside each other; more would leave no room for the intervals."""

NAMES = 190.0
"""The widest column of names; what is longer ends in dots."""

RAW = 0.38
"""How opaque a single sample is, beside the median that is opaque."""


@dataclass(frozen=True)
class Panel:
    """Rows of one cell and quantity. scale: of its axis."""

    title: str
    rows: list[Row]
    scale: Scale


def draw(panels: list[Panel], subjects: list[str], title: str, *, left: str, right: str) -> str:
    """Medians with 95 % intervals, every sample as a faint dot; ``left``, ``right``: axis ends.

    subjects: the lines from the top down; one that a panel lacks says so there. "" without any.
    """
    if not subjects:
        return ""
    names = min(NAMES, 22 + max(text_width(name, SIZE) for name in subjects))
    across = 2 if len(panels) == 4 else min(ACROSS, len(panels))
    wide = (WIDTH - names - GAP * (across - 1)) / across
    high = HEAD + LINE * len(subjects) + FOOT
    drawing = Drawing(WIDTH, high * -(-len(panels) // across) + 18, title, _description(panels))
    for number, panel in enumerate(panels):
        column, line = number % across, number // across
        x, top = names + column * (wide + GAP), line * high
        if column == 0:
            for place, name in enumerate(subjects):
                drawing.text(
                    names - 8, _y(top, place), _fitting(name), size=SIZE, anchor="end", fill="ink"
                )
        _panel(drawing, panel, subjects, x, x + wide, top)
    drawing.text(
        (names + WIDTH) / 2, drawing.height - 4, f"← {left} · {right} →", anchor="middle", size=11
    )
    return drawing.render("figure panels")


def _fitting(name: str) -> str:
    room = int((NAMES - 22) / text_width("x", SIZE))
    return name if len(name) <= room else f"{name[: room - 1]}…"


def _y(top: float, place: int) -> float:
    return top + HEAD + LINE * place + LINE / 2 + 4


def _panel(
    drawing: Drawing, panel: Panel, subjects: list[str], start: float, end: float, top: float
) -> None:
    bottom = top + HEAD + LINE * len(subjects)
    drawing.text(start, top + 14, panel.title, size=13, fill="ink", font_weight=600)
    values = [v for r in panel.rows for v in (*r.values, r.ci_low, r.ci_high) if v is not None]
    if not values:
        drawing.text(start, top + HEAD + 14, "nothing was measured", fill="worse")
        return
    axis = _axis(values, start + 4, end - 4)
    _ticks(drawing, panel, axis, top + HEAD - 4, bottom)
    by_name = {row.subject: row for row in panel.rows}
    for place, name in enumerate(subjects):
        _line(drawing, axis, panel, by_name.get(name), _y(top, place) - 4)


def _axis(values: list[float], start: float, end: float) -> Axis:
    if min(values) > 0 and max(values) / min(values) > WIDE:
        return logarithmic(values, start, end, 0.04)
    return linear(values, start, end, 0.05)


def _ticks(drawing: Drawing, panel: Panel, axis: Axis, top: float, bottom: float) -> None:
    ticks = decade_ticks(axis, 4) if axis.is_log else even_ticks(axis.low, axis.high, 3)
    free = axis.start - 30
    for tick in ticks:
        words, x = bare(panel.scale.number(tick)), axis.place(tick)
        drawing.line(x, top, x, bottom)
        if x - text_width(words, 11) / 2 > free:
            drawing.text(
                min(x, WIDTH - text_width(words, 11) / 2),
                bottom + 14,
                words,
                size=11,
                anchor="middle",
            )
            free = x + text_width(words, 11) / 2 + 4
    if panel.scale.label:
        drawing.text(axis.end, bottom + 27, panel.scale.label, size=11, anchor="end")


def _line(drawing: Drawing, axis: Axis, panel: Panel, row: Row | None, y: float) -> None:
    if row is None or row.median is None:
        words = "not in this experiment" if row is None else spaced(row.status)
        drawing.text(axis.start, y + 4, words, size=11, fill="soft" if row is None else "worse")
        return
    drawing.dots(
        ((axis.place(value), y + (0, 3, -3)[place % 3]) for place, value in enumerate(row.values)),
        1.7,
        "soft",
        opacity=RAW,
    )
    if row.ci_low is not None and row.ci_high is not None:
        drawing.stroke(axis.place(row.ci_low), y, axis.place(row.ci_high), y, "accent", 3.5)
    drawing.dot(axis.place(row.median), y, 4, "accent", f"{row.subject}: {_figures(panel, row)}")


def _figures(panel: Panel, row: Row) -> str:
    words = panel.scale.text(row.median or 0.0)
    if row.ci_low is None or row.ci_high is None:
        return words
    return f"{words}, {panel.scale.ends(row.ci_low, row.ci_high)}"


def _description(panels: list[Panel]) -> str:
    return "; ".join(
        f"{panel.title}: "
        + ", ".join(
            f"{row.subject} {panel.scale.text(row.median)}"
            for row in panel.rows
            if row.median is not None
        )
        for panel in panels
    )
