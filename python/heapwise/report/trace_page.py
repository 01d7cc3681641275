"""The page of a trace: live bytes, sizes, lifetimes, call sites, and flame graphs."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup

from heapwise import __version__
from heapwise.figures.live_bytes import draw
from heapwise.figures.svg import PALETTE
from heapwise.report.page import NAMESPACE, environment
from heapwise.trace import Trace
from heapwise.trace.call_stacks import CallStack
from heapwise.trace.columns import Numbers
from heapwise.trace.contents import Contents
from heapwise.trace.symbols import Symbols
from heapwise.wording.numbers import percent, show, size

MOST_SITES = 100
"""Rows of the table."""


def trace_page(trace: Trace, found: Contents, symbols: Symbols, stacks: list[CallStack]) -> str:
    """One file that asks nothing of the network."""
    templates = environment()
    assert templates.loader is not None
    style, zoom, script = (Markup(templates.loader.get_source(templates, name)[0])
                           for name in ("style.css", "zoom.js", "flame.js"))
    unit = trace.ns_a_unit
    live = draw(found.live, unit).replace(NAMESPACE, "") if found.live else ""
    return templates.get_template("trace.html").render(
        command=" ".join(trace.about.get("command", [])) or trace.path.name, damage=trace.damage,
        found=found, summary=trace.summary, size=size, percent=percent, live=Markup(live),
        sizes=_rows(found.size_buckets, lambda k: f"up to {size(2**k - 1)}"),
        lifetimes=_rows(found.lifetimes, lambda k: f"below {show(2**k * unit, 'ns')}" if unit
                        else f"below 2^{k} units"),
        sites=_sites(trace, found, symbols), more=max(0, len(found.sites) - MOST_SITES),
        tree=_embedded(call_tree(stacks)), style=style, zoom=zoom, script=script, palette=PALETTE,
        version=__version__)


def call_tree(stacks: list[CallStack]) -> dict[str, Any]:
    """Nested nodes: n the name, b bytes, c blocks, k the nodes below it."""
    root: dict[str, Any] = {"n": "all", "b": 0, "c": 0, "k": {}}
    for stack in stacks:
        path = [root]
        for name in [str(place) for place in stack.places] or ["unknown"]:
            path.append(path[-1]["k"].setdefault(name, {"n": name, "b": 0, "c": 0, "k": {}}))
        for node in path:
            node["b"] += stack.bytes
            node["c"] += stack.blocks
    return _listed(root)


def _listed(root: dict[str, Any]) -> dict[str, Any]:
    """Without recursion: a stack may be deeper than Python's own."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node["k"] = list(node["k"].values())
        waiting += node["k"]
    return root


def _embedded(tree: dict[str, Any]) -> Markup:
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


def _rows(numbers: Numbers, label: Any) -> list[tuple[str, str, float]]:
    """(label, share, length of the bar in percent) of the buckets that are not empty."""
    total, most = int(numbers.sum()), int(numbers.max())
    return [(label(k) if k else "0", percent(int(count) / total), 100 * int(count) / most)
            for k, count in enumerate(numbers) if count]


def _sites(trace: Trace, found: Contents, symbols: Symbols) -> list[dict[str, str]]:
    chosen = sorted(found.sites.items(), key=lambda item: -item[1].bytes)[:MOST_SITES]
    addresses = {number: trace.site_address(number) for number, _ in chosen}
    symbols.learn(address for address in addresses.values() if address is not None)
    rows = []
    for number, site in chosen:
        address = addresses[number]
        rows.append({
            "name": str(symbols.place(address)) if address is not None else "unknown",
            "blocks": f"{site.count:,}", "bytes": size(site.bytes), "peak": size(site.peak_bytes),
            "own": percent(site.own_thread / site.ended) if site.ended else "-"})
    return rows
