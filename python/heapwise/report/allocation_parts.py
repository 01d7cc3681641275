"""What the pages of a trace and of a profile have in common: flame graph, bars, styles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from heapwise.document import DRAWING, Passage, Plot, TextOrCell, plain_table, table_cell, under
from heapwise.document.html import html
from heapwise.figures.live_bytes import draw
from heapwise.report.flame_tree import Node, embedded
from heapwise.report.page import whole_page
from heapwise.trace import Trace
from heapwise.trace.names.call_stacks import CallStack
from heapwise.wording.numbers import percent, show, size

BAR = '<svg aria-hidden="true"><rect width="{:.1f}%" height="12"/></svg>'

MOST_SITES = 100
"""Rows of the table."""

SUMS = {"b": "bytes", "c": "blocks", "p": "peak_bytes", "e": "end_bytes"}
"""Keys of a node of the flame graph, and what they sum of a call stack."""


@dataclass(frozen=True)
class AllocationPage:
    """title: of the window. what: is shown. answer: the first sentence. measures: key of the sums
    of the flame graph -> name of its button, and what it counts. note: how to read the graph."""

    title: str
    what: str
    answer: str
    note: str
    measures: Mapping[str, tuple[str, str]]
    above: Sequence[Passage]
    tables: Sequence[Passage]
    tree: Node

    def render(self) -> str:
        """One file that loads nothing from the network."""
        return whole_page(
            "allocations.html",
            ("zoom.js", "flame.js"),
            page=self,
            above=html(self.above),
            tables=html(self.tables),
            tree=embedded(self.tree),
        )


MEASURES = {
    "b": ("Bytes", "bytes"),
    "c": ("Calls", "blocks"),
    "p": ("Live at the peak", "bytes live at the peak"),
    "e": ("Live at the end", "bytes live at the end"),
}


def live_figure(trace: Trace, live: list[tuple[int, int]]) -> list[Passage]:
    figure = draw(live, trace.ns_a_unit) if live else ""
    return under("Live bytes over time", [Plot(figure, zooms=True)])


def bars(trace: Trace, sizes: Sequence[float], lifetimes: Sequence[float]) -> list[Passage]:
    unit = trace.ns_a_unit
    return [
        *_bars("Sizes", sizes, lambda k: f"up to {size(2**k - 1)}"),
        *_bars(
            "Lifetimes",
            lifetimes,
            lambda k: f"below {show(2**k * unit, 'ns')}" if unit else f"below 2^{k} units",
        ),
    ]


def call_tree(stacks: Sequence[CallStack]) -> Node:
    """All call stacks, from the outermost function on. The keys of its sums are those of SUMS."""
    root = Node("all", dict.fromkeys(SUMS, 0))
    for stack in stacks:
        root.add(
            [str(place) for place in stack.places] or ["unknown"],
            {key: getattr(stack, name) for key, name in SUMS.items()},
        )
    return root


def _bars(title: str, numbers: Sequence[float], label: Callable[[int], str]) -> list[Passage]:
    """The share of each bucket that is not empty, with a bar. The longest bar fills its cell."""
    total, most = sum(map(float, numbers)), max(map(float, numbers))
    head: list[TextOrCell] = [
        "",
        table_cell("share of blocks", mark="number"),
        table_cell("", mark=DRAWING),
    ]
    rows: list[list[TextOrCell]] = [
        [
            label(bucket) if bucket else "0",
            table_cell(percent(float(count) / total), mark="number"),
            replace(table_cell(""), svg=BAR.format(100 * float(count) / most)),
        ]
        for bucket, count in enumerate(numbers)
        if count
    ]
    return under(title, [plain_table([head, *rows], look="bars")])
