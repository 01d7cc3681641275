"""What the pages of a trace and of a profile have in common: flame graph, bars, styles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from heapwise import __version__
from heapwise.figures.live_bytes import draw
from heapwise.figures.svg import PALETTE
from heapwise.report.flame_tree import Node, embedded
from heapwise.report.page import NAMESPACE, environment
from heapwise.trace import Trace
from heapwise.trace.names.call_stacks import CallStack
from heapwise.trace.names.symbols import module_notes
from heapwise.wording.numbers import percent, show, size

MOST_SITES = 100
"""Rows of the table."""

SUMS = {"b": "bytes", "c": "blocks", "p": "peak_bytes", "e": "end_bytes"}
"""Keys of a node of the flame graph, and what they sum of a call stack."""


def render(
    name: str,
    trace: Trace,
    stacks: Sequence[CallStack],
    live: list[tuple[int, int]],
    sizes: Sequence[float],
    lifetimes: Sequence[float],
    **values: Any,
) -> str:
    """One file that loads nothing from the network."""
    templates = environment()
    assert templates.loader is not None
    style, zoom, script = (
        Markup(templates.loader.get_source(templates, part)[0])
        for part in ("style.css", "zoom.js", "flame.js")
    )
    unit = trace.ns_a_unit
    figure = draw(live, unit).replace(NAMESPACE, "") if live else ""
    return templates.get_template(name).render(
        command=" ".join(trace.command) or trace.path.name,
        damage=trace.damage,
        running=trace.running,
        builds=module_notes(trace),
        summary=trace.summary,
        size=size,
        percent=percent,
        live=Markup(figure),
        sizes=_rows(sizes, lambda k: f"up to {size(2**k - 1)}"),
        lifetimes=_rows(
            lifetimes,
            lambda k: f"below {show(2**k * unit, 'ns')}" if unit else f"below 2^{k} units",
        ),
        tree=embedded(call_tree(stacks)),
        style=style,
        zoom=zoom,
        script=script,
        palette=PALETTE,
        version=__version__,
        **values,
    )


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
