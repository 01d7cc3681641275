"""Series of a history as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.analysis.across_runs.history import SHORT, Change, MetricHistory, Moment, Seam
from heapwise.wording.lists import counted
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import Scale, percent, scale_for

BARS = "▁▂▃▄▅▆▇█"

WIDEST = 60
"""The newest runs that a line shows."""


def scale_of(series: MetricHistory) -> Scale:
    return scale_for([moment.value for moment in series.moments], series.unit)


def name_of(series: MetricHistory) -> str:
    settings = " ".join(f"{name}={value}" for name, value in series.key.parameters)
    base = f"relative to {series.key.baseline}" if series.key.baseline else ""
    words = (series.key.subject, quantity_name(series.key.quantity), base, settings)
    return "  ".join(word for word in words if word)


def title_of(series: MetricHistory) -> str:
    """``./prog --bench   (github.com/x/y, host, cpu)``: the command, where it was typed, and the
    machine."""
    place = series.key.place
    where = ", ".join(filter(None, (place, series.key.machine)))
    return f"{series.key.command}   ({where})"


LEAST_RUNS = 3


def short_series_line(shown: Sequence[MetricHistory]) -> str:
    """Why many series are too short to have a change; "" if fewer than half of them are."""
    short = [series for series in shown if len(series.moments) < LEAST_RUNS]
    if 2 * len(short) <= len(shown):
        return ""
    return (
        f"{len(short)} of {len(shown)} series have fewer than {LEAST_RUNS} runs, too few to "
        "show a change. Runs with another machine, repository, folder or command are another "
        "series. HEAPWISE_MACHINE=NAME names a machine whose host name is another one in each "
        "run."
    )


def series_line(series: MetricHistory) -> str:
    """``  glibc  time   ▁▁▁▂▁▇▇▇  2.41 to 2.60 s, last 2.58 s, 8 runs``; a seam is a bar."""
    scale, values = scale_of(series), [moment.value for moment in series.moments]
    span = f"{scale.ends(min(values), max(values))} {scale.label}".rstrip()
    return (
        f"  {name_of(series)}   {sparkline(series)}  {span}, last {scale.text(values[-1])}, "
        f"{counted(len(values), 'run')}"
    )


def sparkline(series: MetricHistory) -> str:
    values = [moment.value for moment in series.moments]
    low, high = min(values), max(values)
    # A series that hardly moves should look like it: the whole height is at least 2 % of a value.
    room = max(high - low, 0.02 * abs(high), 1e-300)
    seams = {seam.place for seam in series.seams}
    letters = [
        ("|" if place in seams else "") + BARS[min(7, int(8 * (value - low) / room))]
        for place, value in enumerate(values)
    ]
    return "".join(letters[-WIDEST:])


def change_line(series: MetricHistory, change: Change) -> str:
    """``8.1 % more (95 % CI 7.0 to 9.2 %) after 1a2b3c4d5e, by 9f8e7d6c5b: worse``."""
    scale = scale_of(series)
    how = f"{scale.text(change.before)} became {scale.text(change.after)}"
    if change.change is not None:
        word = "more" if change.change > 0 else "less"
        how = f"{percent(abs(change.change))} {word}{_interval(change)}, {how}"
    verdict = "better" if change.better else "worse"
    recovery = "" if change.gone is None else (f"; it went away {_at(series.moments[change.gone])}")
    return f"{verdict}: {how}, {_range(series, change)}{recovery}"


def _interval(change: Change) -> str:
    if change.low is None or change.high is None:
        return ", exact"
    low, high = sorted(abs(end) for end in (change.low, change.high))
    if change.low < 0 < change.high:
        low = 0.0
    return f" (95 % CI {percent(low)} to {percent(high)})"


def seam_line(series: MetricHistory, seam: Seam) -> str:
    return f"not compared across run {series.moments[seam.place].run}: {seam.why}"


def _range(series: MetricHistory, change: Change) -> str:
    before, first = series.moments[change.place - 1], series.moments[change.place]
    if before.commit and first.commit and before.commit != first.commit:
        return f"in {before.commit[:SHORT]}..{first.commit[:SHORT]}{_dirty(first)}"
    return f"{_at(first)}, after run {before.run}"


def _at(moment: Moment) -> str:
    if moment.commit:
        return f"at {moment.commit[:SHORT]}{_dirty(moment)}"
    return f"at run {moment.run} of {moment.when[:10]}"


def _dirty(moment: Moment) -> str:
    return " with changes that are not committed" if moment.dirty else ""
