"""The page of a history: every series as a figure that can be zoomed, with its changes."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

from heapwise.analysis.across_runs.history import SHORT, MetricHistory, Moment
from heapwise.analysis.across_runs.history_lines import change_line, name_of, scale_of, seam_line
from heapwise.document import Heading, Notice, Passage, Plot, SentenceList
from heapwise.figures.history import Level, draw
from heapwise.report.page import told_page
from heapwise.wording.numbers import Scale

ABOUT = (
    "A dot is the median of a run. A line is the level between two changes; a dashed line marks a "
    "new kernel, C library, allocator or compiler, across which nothing is compared. The keys + "
    "and − zoom a figure that has the focus."
)


def history_page(shown: list[MetricHistory]) -> str:
    """One file that loads nothing from the network."""
    changes = sum(len(series.changes) for series in shown)
    told = [Notice(ABOUT), *(passage for series in shown for passage in _series(series))]
    return told_page("history", "series", f"{len(shown)} series, {changes} changes", told)


def _series(series: MetricHistory) -> list[Passage]:
    scale = scale_of(series)
    figure = draw(
        [m.value for m in series.moments],
        [_hint(moment, scale) for moment in series.moments],
        _levels(series),
        [seam.place for seam in series.seams],
        name_of(series),
        scale.text,
    )
    where = " · ".join(filter(None, (series.key.command, series.key.place, series.key.machine)))
    lines = [*(change_line(series, change) for change in series.changes)]
    lines += [seam_line(series, seam) for seam in series.seams]
    return [
        Heading(name_of(series)),
        Notice(where),
        Plot(figure, zooms=True),
        *([SentenceList(lines)] if lines else []),
    ]


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
