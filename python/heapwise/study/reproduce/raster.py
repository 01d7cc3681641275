"""The same pictures as PNG and PDF, for papers. They are drawn by matplotlib, which is optional."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import Any

from heapwise.figures.svg import COLOURS, PALETTE
from heapwise.study.reproduce.charts import Chart

DOTS_PER_INCH = 200


def can_raster() -> bool:
    return find_spec("matplotlib") is not None


def raster(chart: Chart, form: str) -> bytes:
    """form: ``png`` or ``pdf``. ImportError without matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = 4.2 if chart.lines else 1.4 + 0.28 * len(chart.marks)
    figure = Figure(figsize=(7.2, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(chart.title, fontsize=10)
    (_draw_lines if chart.lines else _draw_marks)(axes, chart)
    file = io.BytesIO()
    # Without the moment at which it was made, the same run gives the same file.
    figure.savefig(
        file,
        format=form,
        dpi=DOTS_PER_INCH,
        metadata={"CreationDate": None} if form == "pdf" else {"Software": None},
    )
    return file.getvalue()


def _draw_marks(axes: Any, chart: Chart) -> None:
    names = [mark.name for mark in chart.marks]
    for place, mark in enumerate(chart.marks):
        if mark.low and mark.high:
            axes.plot([mark.low, mark.high], [place, place], color=COLOURS["accent"], linewidth=2)
        if mark.ours:
            axes.plot([mark.ours], [place], "o", color=COLOURS["accent"], markersize=5)
        if mark.published:
            axes.plot(
                [mark.published],
                [place],
                "o",
                markerfacecolor="none",
                markersize=6,
                markeredgecolor=COLOURS["worse"],
            )
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    if any(value and value > 0 for mark in chart.marks for value in (mark.published, mark.ours)):
        axes.set_xscale("log")
    axes.set_xlabel(f"{chart.unit}    ring: published, dot: here with its 95 % interval")
    axes.grid(axis="x", color=COLOURS["line"], linewidth=0.5)


def _draw_lines(axes: Any, chart: Chart) -> None:
    colours = {
        name: PALETTE[at % len(PALETTE)]
        for at, name in enumerate(dict.fromkeys(line.name for line in chart.lines))
    }
    for line in chart.lines:
        known = [(at, value) for at, value in enumerate(line.values) if value]
        style = {"color": colours[line.name], "linestyle": "-" if line.is_ours else "--"}
        axes.plot(
            *zip(*known, strict=True),
            marker="o" if line.is_ours else "",
            markersize=4,
            label=f"{line.name}, {'here' if line.is_ours else 'published'}",
            **style,
        )
        for at, ends in enumerate(line.ends):
            if ends:
                axes.plot([at, at], ends, color=colours[line.name], linewidth=2)
    axes.set_xticks(range(len(chart.slots)), chart.slots)
    axes.set_yscale("log")
    axes.set_xlabel(chart.rows_are)
    axes.set_ylabel(chart.unit)
    axes.legend(fontsize=7)
