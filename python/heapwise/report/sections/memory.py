"""Memory over time: what the processes of the program had, whether it grows, and what the kernel
charged to their control groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from heapwise.analysis.group_memory import GroupParts, GroupsOfCell, group_memory
from heapwise.analysis.memory_over_time import Band, MemoryOverTime, memory_over_time
from heapwise.figures import memory
from heapwise.report.context import Context
from heapwise.report.over_live import OverLive, over_live
from heapwise.report.view import View
from heapwise.wording.growth import growth_words
from heapwise.wording.names import cell_words
from heapwise.wording.numbers import Scale, scale_for

TITLE, ORDER = "Memory over time", 45

CAPACITY = "capacity"
"""The value of the parameter ``load`` without a rate."""

LEAST_SHARE = 0.01
"""The share of the memory at the end: less of it is not named."""


@dataclass(frozen=True)
class CellOverTime:
    title: str
    figure: Markup
    rows: list[tuple[str, str, str, str, str]]
    """Subject, most, mean and last of the middle line, growth. Beside the last: how much of it the
    kernel may take back, if that is a figure that shows."""

    left_out: list[str]
    unread: int


@dataclass(frozen=True)
class GroupTable:
    title: str
    rows: list[tuple[str, ...]]
    """Subject, then the figures of ``GroupParts``."""

    missing: str
    surrounding: str


def build(view: View) -> Context | None:
    blocks = [_block(one) for one in memory_over_time(view.evidence)]
    groups = [_group_table(one) for one in group_memory(view.evidence)]
    over = _over_live_of_server(view)
    return (
        {"blocks": blocks, "groups": groups, "over_live": over}
        if blocks or over or _has_figures(groups)
        else None
    )


def _over_live_of_server(view: View) -> list[OverLive]:
    """The figures of the load without a rate, under which the live bytes were counted; empty if
    they were not."""
    if not view.run.plan.traits.under_load:
        return []
    live = [
        process.facts.peak_live_bytes
        for process in view.evidence.stored.processes
        if process.facts.counting and process.status == "ok"
    ]
    rows = [
        row
        for group in view.groups
        if group.quantity == "peak_memory" and group.cell.parameters.get("load") == CAPACITY
        for row in group.rows
        if row.subject not in view.evidence.control_names
    ]
    return over_live(rows, next(iter(live), None))


def _has_figures(groups: list[GroupTable]) -> bool:
    return any(table.rows for table in groups)


def _group_table(one: GroupsOfCell) -> GroupTable:
    rows = [_group_row(parts) for parts in one.rows]
    return GroupTable(cell_words(one.parameters), rows, one.missing, _bytes(one.surrounding))


def _group_row(parts: GroupParts) -> tuple[str, ...]:
    figures = (parts.peak, parts.anonymous, parts.files, parts.kernel, parts.sockets, parts.swap)
    return parts.subject, *map(_bytes, figures)


def _bytes(value: float | None) -> str:
    return "" if value is None else scale_for([value], "bytes").text(value)


def _block(one: MemoryOverTime) -> CellOverTime:
    scale = scale_for([max(band.middle) for band in one.bands], "bytes")
    title = cell_words(one.parameters)
    lines = [
        memory.DrawnCurve(band.subject, band.seconds, band.low, band.middle, band.high)
        for band in one.bands
    ]
    drawn = memory.draw(lines, f"Memory over time {title}".strip(), scale.text, scale.factor)
    rows = [_row(band, scale) for band in one.bands]
    return CellOverTime(title, Markup(drawn), rows, one.left_out, one.unread)


def _row(band: Band, scale: Scale) -> tuple[str, str, str, str, str]:
    show = partial(scale.text)
    found = band.growth
    words = (
        "too short"
        if found is None
        else growth_words(found.trend, found.per_hour, found.low, found.high)
    )
    mean = sum(band.middle) / len(band.middle)
    last = show(band.middle[-1])
    if band.lazy_free >= LEAST_SHARE * band.middle[-1] > 0:
        last += f" ({show(band.lazy_free)} of it may be taken back)"
    return band.subject, show(max(band.middle)), show(mean), last, words
