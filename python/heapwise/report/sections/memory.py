"""Memory over time: what the processes of the program had, whether it grows, and what the kernel
charged to their control groups."""

from __future__ import annotations

from heapwise.analysis.group_memory import GroupsOfCell, group_memory
from heapwise.analysis.memory_over_time import MemoryOverTime, memory_over_time
from heapwise.document import Heading, Notice, Passage, Plot, TextTable, plain_table, under
from heapwise.figures import memory
from heapwise.report.over_live import over_live
from heapwise.report.view import View
from heapwise.study.server.server_tables import curve_table
from heapwise.wording.names import cell_words
from heapwise.wording.numbers import scale_for, show

TITLE, ORDER = "Memory over time", 45

CAPACITY = "capacity"
"""The value of the parameter ``load`` without a rate."""

CURVE = (
    "All processes of the program together; a page that several share counts in equal parts. The "
    "line is the median of the samples of an allocator, and the band reaches from the smallest to "
    "the largest. The memory was read while the program ran, which took at most a thousandth of "
    "the time."
)
GROUP = (
    "Medians over the processes. The peak is the kernel's own figure, of all that it charged to "
    "the control group of a process: files too, if this process was the first to use them. The "
    "parts are of a look near the peak, if there was one."
)
PARTS = ("peak", "anonymous", "files", "kernel", "sockets", "swap")


def tell(view: View) -> list[Passage]:
    over = _over_live_of_server(view)
    curves = [p for one in memory_over_time(view.evidence) for p in _curve(one)]
    found = group_memory(view.evidence)
    if not (curves or over or any(one.rows for one in found)):
        return []
    return [*curves, *(p for one in found for p in _group(one)), *over]


def _over_live_of_server(view: View) -> list[TextTable]:
    """The figures of the load without a rate, under which the live bytes were counted; empty if
    they were not."""
    if not view.run.plan.traits.under_load:
        return []
    live = [
        process.facts.peak_live_bytes
        for process in view.evidence.stored.processes
        if process.facts.counting and process.status == "ok"
    ]
    rows = view.ranked(
        row
        for group in view.groups
        if group.quantity == "peak_memory" and group.parameters.get("load") == CAPACITY
        for row in group.rows
    )
    return over_live(rows, next(iter(live), None))


def _curve(one: MemoryOverTime) -> list[Passage]:
    scale = scale_for([max(band.middle) for band in one.bands], "bytes")
    title = cell_words(one.parameters)
    lines = [
        memory.DrawnCurve(band.subject, band.seconds, band.low, band.middle, band.high)
        for band in one.bands
    ]
    drawn = memory.draw(lines, f"Memory over time {title}".strip(), scale.text, scale.factor)
    short = f"Too short for a curve: {', '.join(one.left_out)}." if one.left_out else ""
    unread = f"Up to {one.unread} processes at once could not be looked at: they belong to another"
    return [
        Heading(title),
        Plot(drawn, CURVE, zooms=True),
        curve_table(one),
        Notice(short),
        Notice(f"{unread} user." if one.unread else ""),
    ]


def _group(one: GroupsOfCell) -> list[Passage]:
    title = cell_words(one.parameters)
    rows = [[p.subject, *(_bytes(getattr(p, name)) for name in PARTS)] for p in one.rows]
    table = plain_table([["allocator", *PARTS], *rows])
    words = f"Processes without a control group of their own {title}".rstrip() + f": {one.missing}."
    if around := _bytes(one.surrounding):
        words += f" The group around them, with other processes in it, had {around} at most."
    return [
        *under(f"Control groups {title}", [table, Notice(GROUP)] if rows else []),
        Notice(words if one.missing else ""),
    ]


def _bytes(value: float | None) -> str:
    return "" if value is None else show(value, "bytes")
