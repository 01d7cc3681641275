"""What the pages of a trace and of a profile have in common: flame graph, bars, styles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from heapwise.document import Passage
from heapwise.document.html import html
from heapwise.figures.live_bytes import draw
from heapwise.report.flame_tree import Node, embedded
from heapwise.report.page import NAMESPACE, whole_page
from heapwise.trace import Trace
from heapwise.trace.names.call_stacks import CallStack
from heapwise.wording.numbers import percent, show, size

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
    live: str = ""
    bars: Mapping[str, list[tuple[str, str, float]]] = field(default_factory=dict)

    def render(self) -> str:
        """One file that loads nothing from the network."""
        return whole_page(
            "allocations.html",
            ("zoom.js", "flame.js"),
            page=self,
            above=html(self.above),
            tables=html(self.tables),
            live=Markup(self.live.replace(NAMESPACE, "")),
            tree=embedded(self.tree),
        )


MEASURES = {
    "b": ("Bytes", "bytes"),
    "c": ("Calls", "blocks"),
    "p": ("Live at the peak", "bytes live at the peak"),
    "e": ("Live at the end", "bytes live at the end"),
}


def live_figure(trace: Trace, live: list[tuple[int, int]]) -> str:
    return draw(live, trace.ns_a_unit) if live else ""


def bars(
    trace: Trace, sizes: Sequence[float], lifetimes: Sequence[float]
) -> dict[str, list[tuple[str, str, float]]]:
    unit = trace.ns_a_unit
    return {
        "Sizes": _rows(sizes, lambda k: f"up to {size(2**k - 1)}"),
        "Lifetimes": _rows(
            lifetimes,
            lambda k: f"below {show(2**k * unit, 'ns')}" if unit else f"below 2^{k} units",
        ),
    }


def call_tree(stacks: Sequence[CallStack]) -> Node:
    """All call stacks, from the outermost function on. The keys of its sums are those of SUMS."""
    root = Node("all", dict.fromkeys(SUMS, 0))
    for stack in stacks:
        root.add(
            [str(place) for place in stack.places] or ["unknown"],
            {key: getattr(stack, name) for key, name in SUMS.items()},
        )
    return root


def _rows(numbers: Sequence[float], label: Callable[[int], str]) -> list[tuple[str, str, float]]:
    """(label, share, length of the bar in percent) of the buckets that are not empty."""
    total, most = sum(map(float, numbers)), max(map(float, numbers))
    return [
        (label(k) if k else "0", percent(float(count) / total), 100 * float(count) / most)
        for k, count in enumerate(numbers)
        if count
    ]
