"""The page of a history: every series as a figure that can be zoomed, with its changes."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

from markupsafe import Markup

from heapwise.analysis.across_runs.history import SHORT, MetricHistory, Moment
from heapwise.analysis.across_runs.history_lines import change_line, name_of, scale_of, seam_line
from heapwise.figures.history import Level, draw
from heapwise.report.page import NAMESPACE, whole_page
from heapwise.wording.numbers import Scale


def history_page(shown: list[MetricHistory]) -> str:
    """One file that loads nothing from the network."""
    blocks = [_block(series) for series in shown]
    return whole_page("history.html", ("zoom.js",), blocks=blocks)


def _block(series: MetricHistory) -> dict[str, object]:
    scale = scale_of(series)
    figure = draw(
        [m.value for m in series.moments],
        [_hint(moment, scale) for moment in series.moments],
        _levels(series),
        [seam.place for seam in series.seams],
        name_of(series),
        scale.text,
    )
    return {
        "command": series.key.command,
        "machine": series.key.machine,
        "place": series.key.place,
        "name": name_of(series),
        "figure": Markup(figure.replace(NAMESPACE, "")),
        "changes": [(change.better, change_line(series, change)) for change in series.changes],
        "seams": [seam_line(series, seam) for seam in series.seams],
    }


def _hint(moment: Moment, scale: Scale) -> str:
    commit = f", commit {moment.commit[:SHORT]}" if moment.commit else ""
    return f"{scale.text(moment.value)}: run {moment.run}{commit}, {moment.when[:16]}"


def _levels(series: MetricHistory) -> list[Level]:
    changes = {change.place: change for change in series.changes}
    bounds = sorted({0, len(series.moments), *changes, *(seam.place for seam in series.seams)})
    return [
        Level(
            begin,
            end,
            mean(m.value for m in series.moments[begin:end]),
            begin in changes and not changes[begin].better,
        )
        for begin, end in pairwise(bounds)
    ]
