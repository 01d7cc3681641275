"""A profile as lines of text, and as a document for machines: estimates with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan
from typing import Any

from heapwise.cli.frame.table import align
from heapwise.trace import Trace
from heapwise.trace.profile import CONFIDENCE, Estimate, Samples
from heapwise.trace.symbols import Symbols
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent, show, significant, size

ORDERS = (0.1, 0.5, 0.9, 0.99)
"""Of the lifetimes: their quantiles."""

Show = Callable[[float], str]


def profile_lines(trace: Trace, found: Samples, symbols: Symbols, top: int) -> Iterator[str]:
    """Paragraphs in the order of the questions that users ask first."""
    command = " ".join(trace.about.get("command", [])) or trace.path.name
    yield f"Profile   {trace.path}: {command}"
    if trace.damage:
        yield f"Damaged   {trace.damage}; what follows is of what could be read"
    yield (
        f"Samples   {len(found):,} blocks, one for each {size(trace.sample_every)} asked for on "
        f"average. Figures are estimates, with {CONFIDENCE * 100:g} % intervals"
    )
    summary = trace.summary
    windows = summary is not None and summary.kept_events < summary.events
    if summary and windows:
        yield (
            f"Windows   {summary.windows} windows hold "
            f"{percent(summary.kept_events / summary.events)} of the samples; figures are of "
            "the windows"
        )
    if summary and summary.events_missed:
        yield f"Missed    {summary.events_missed:,} samples; figures are too low by their share"
    if summary and summary.pauses:
        yield (f"Paused    {counted(summary.pauses, 'time')}, {significant(summary.paused_s)} s "
               "in all; blocks that were made in a pause are not in the figures")
    if not len(found):
        return
    yield (f"Blocks    {_said(found.blocks(), _count)}; {_said(found.bytes(), size)} asked for")
    if not windows:
        yield f"Live      {_said(found.live_bytes(), size)} were not freed"
    if found.ended.any():
        yield (
            f"Threads   {_said(found.share_handed_over(), percent)} of the freed blocks are "
            "freed by another thread than made them"
        )
        yield ""
        yield from _lifetimes(trace, found)
    yield ""
    yield from _sites(trace, found, symbols, top)


def _count(value: float) -> str:
    return significant(round(value))


def _said(estimate: Estimate, show_one: Show) -> str:
    return f"{show_one(estimate.value)} ({show_one(estimate.low)} to {show_one(estimate.high)})"


def _time(unit: float) -> Show:
    return lambda value: show(value * unit, "ns") if unit else f"{value:.0f} units"


def _lifetimes(trace: Trace, found: Samples) -> Iterator[str]:
    shown = _time(trace.ns_a_unit)
    lines = [["Lifetimes", "at most", "interval"]]
    for order, each in zip(ORDERS, found.lifetime_quantiles(ORDERS), strict=True):
        lines.append(
            [
                f"  {order * 100:g} % of the freed blocks",
                shown(each.value),
                f"{shown(each.low)} to {shown(each.high)}",
            ]
        )
    yield from align(lines).splitlines()


def _sites(trace: Trace, found: Samples, symbols: Symbols, top: int) -> Iterator[str]:
    sites = sorted(found.by_site(), key=lambda item: -item[1].bytes().value)
    addresses = {number: trace.site_address(number) for number, _ in sites[:top]}
    symbols.learn(address for address in addresses.values() if address is not None)
    lines = [["Call sites", "samples", "bytes", "blocks", "lifetime", "own thread"]]
    for number, site in sites[:top]:
        address = addresses[number]
        name = str(symbols.place(address)) if address is not None else "unknown"
        [median] = site.lifetime_quantiles([0.5])
        lines.append(
            [
                f"  {name}",
                f"{len(site):,}",
                _said(site.bytes(), size),
                _said(site.blocks(), _count),
                _median(median, trace.ns_a_unit),
                _own(site),
            ]
        )
    yield from align(lines).splitlines()
    if len(sites) > top:
        yield f"  and {len(sites) - top} more: heapwise trace {trace.path} --top 1000"


def _median(lifetime: Estimate, unit: float) -> str:
    return "to the end" if isnan(lifetime.value) else _time(unit)(lifetime.value)


def _own(site: Samples) -> str:
    handed = site.share_handed_over().value
    return "-" if isnan(handed) else percent(1 - handed)


def profile_document(trace: Trace, found: Samples, symbols: Symbols) -> dict[str, Any]:
    """All of it, for --json: sizes in bytes, times in nanoseconds."""
    unit = trace.ns_a_unit
    symbols.learn(
        address
        for number in found.site.tolist()
        if (address := trace.site_address(number)) is not None
    )
    return {
        "about": trace.about,
        "summary": trace.summary,
        "damage": trace.damage,
        "sample_every": trace.sample_every,
        "confidence": CONFIDENCE,
        **_estimates(found, unit),
        "sites": [
            {**_place(trace, symbols, number), **_estimates(site, unit)}
            for number, site in sorted(found.by_site(), key=lambda item: -len(item[1]))
        ],
    }


def _place(trace: Trace, symbols: Symbols, number: int) -> dict[str, Any]:
    address = trace.site_address(number)
    place = symbols.place(address) if address is not None else None
    return {
        "module": place.module if place else None,
        "function": place.function if place else None,
        "line": place.line if place else None,
        "offset": place.offset if place else None,
    }


def _estimates(found: Samples, unit: float) -> dict[str, Any]:
    return {
        "samples": len(found),
        "blocks": found.blocks(),
        "bytes": found.bytes(),
        "live_bytes": found.live_bytes(),
        "ended_samples": int(found.ended.sum()),
        "share_handed_over": _known(found.share_handed_over(), 1.0),
        "lifetime_ns": [
            {"order": order, "estimate": _known(each, unit)}
            for order, each in zip(ORDERS, found.lifetime_quantiles(ORDERS), strict=True)
        ],
    }


def _known(estimate: Estimate, unit: float) -> Estimate | None:
    if isnan(estimate.value):
        return None
    return Estimate(estimate.value * unit, estimate.low * unit, estimate.high * unit)
