"""What the pages of a trace and of a profile have in common: flame graph, bars, styles."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from heapwise import __version__
from heapwise.figures.live_bytes import draw
from heapwise.figures.svg import PALETTE
from heapwise.report.page import NAMESPACE, environment
from heapwise.trace import Trace
from heapwise.trace.call_stacks import CallStack
from heapwise.trace.symbols import module_notes
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


def call_tree(stacks: Sequence[CallStack]) -> dict[str, Any]:
    """Nested nodes: n the name, the keys of SUMS, k the nodes below it."""
    root = _node("all")
    for stack in stacks:
        path = [root]
        for name in [str(place) for place in stack.places] or ["unknown"]:
            path.append(path[-1]["k"].setdefault(name, _node(name)))
        for node in path:
            for key, sum_ in SUMS.items():
                node[key] += getattr(stack, sum_)
    return listed_tree(root)


def _node(name: str) -> dict[str, Any]:
    return {"n": name, **dict.fromkeys(SUMS, 0), "k": {}}


def listed_tree(root: dict[str, Any]) -> dict[str, Any]:
    """Without recursion: a stack may be deeper than Python's own."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node["k"] = list(node["k"].values())
        waiting += node["k"]
    return root


def embedded(tree: dict[str, Any]) -> Markup:
    """JSON in a script element: no name of a function can end the element."""
    text = _as_json(tree)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _as_json(tree: dict[str, Any]) -> str:
    """Without recursion: the encoder of Python's library refuses nodes a few hundred deep."""
    pieces: list[str] = []
    waiting: list[dict[str, Any] | str] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            pieces.append(node)
            continue
        own = {name: value for name, value in node.items() if name != "k"}
        pieces.append(json.dumps(own, separators=(",", ":"))[:-1] + ',"k":[')
        waiting.append("]}")
        for place, below in enumerate(reversed(node["k"])):
            waiting += [",", below] if place else [below]
    return "".join(pieces)


def _rows(numbers: Sequence[float], label: Callable[[int], str]) -> list[tuple[str, str, float]]:
    """(label, share, length of the bar in percent) of the buckets that are not empty."""
    total, most = sum(map(float, numbers)), max(map(float, numbers))
    return [
        (label(k) if k else "0", percent(float(count) / total), 100 * float(count) / most)
        for k, count in enumerate(numbers)
        if count
    ]
