"""A profile as lines of text, and as a document for machines: estimates with intervals."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from heapwise.cli.frame.tell.fitted_lines import boxed, shortened, width
from heapwise.cli.frame.tell.process_text import process_lines
from heapwise.cli.frame.tell.trace_text import (
    build_lines,
    other_program_lines,
    unfinished_lines,
)
from heapwise.document.aligned import fitted
from heapwise.trace import Trace
from heapwise.trace.names.symbols import Symbols
from heapwise.trace.names.wrappers import Wrappers
from heapwise.trace.profile import CONFIDENCE, Estimate, Samples
from heapwise.trace.profile_document import LIFETIME_ORDERS
from heapwise.trace.sampled_stacks import SampledStacks
from heapwise.wording.lists import counted
from heapwise.wording.numbers import ShowNumber, percent, show, significant, size


def profile_lines(
    trace: Trace, stacks: SampledStacks, symbols: Symbols, wrappers: Wrappers, top: int
) -> Iterator[str]:
    """Paragraphs in the order of the questions that users ask first."""
    found = stacks.samples
    command = " ".join(trace.command) or trace.path.name
    yield from boxed("Profile", f"{trace.path}: {command}")
    yield from unfinished_lines(trace)
    yield from build_lines(trace)
    yield from other_program_lines(trace)
    yield from process_lines(trace)
    yield from boxed(
        "Samples",
        f"{counted(len(found), 'block')}, one for each {size(trace.sample_every)} asked for on "
        f"average. Figures are estimates, with {CONFIDENCE * 100:g} % intervals",
    )
    summary = trace.summary
    windows = summary is not None and summary.kept_events < summary.events
    if summary and windows:
        yield from boxed(
            "Windows",
            f"{counted(summary.windows, 'window')} with "
            f"{percent(summary.kept_events / summary.events)} of the samples; figures are of "
            "the windows",
        )
    if summary and summary.events_missed:
        yield from boxed(
            "Missed", f"{summary.events_missed:,} samples; figures are too low by their share"
        )
    if summary and summary.pauses:
        yield from boxed(
            "Paused",
            f"{counted(summary.pauses, 'time')}, "
            f"{significant(summary.paused_s)} s in all; blocks that were made "
            "in a pause are not in the figures",
        )
    if not len(found):
        return
    yield from boxed(
        "Blocks", f"{_said(found.blocks(), _count)}; {_said(found.bytes(), size)} asked for"
    )
    if not windows:
        yield from boxed("Live", f"{_said(found.live_bytes(), size)} were not freed")
    if found.ended.any():
        yield from boxed(
            "Threads",
            f"{_said(found.share_handed_over(), percent)} of the freed blocks are "
            "freed by another thread than made them",
        )
        yield ""
        yield from _lifetimes(trace, found)
    yield ""
    yield from _sites(trace, stacks.by_site(symbols, wrappers), top)


def _count(value: float) -> str:
    return significant(round(value))


def _said(estimate: Estimate, show_one: ShowNumber) -> str:
    return f"{show_one(estimate.value)} ({show_one(estimate.low)} to {show_one(estimate.high)})"


def _time(unit: float) -> ShowNumber:
    return lambda value: show(value * unit, "ns") if unit else f"{value:.0f} units"


def _lifetimes(trace: Trace, found: Samples) -> Iterator[str]:
    shown = _time(trace.ns_a_unit)
    lines = [["Lifetimes", "at most", "interval"]]
    for order, each in zip(LIFETIME_ORDERS, found.lifetime_quantiles(LIFETIME_ORDERS), strict=True):
        lines.append(
            [
                f"  {order * 100:g} % of the freed blocks",
                shown(each.value),
                f"{shown(each.low)} to {shown(each.high)}",
            ]
        )
    yield from fitted(lines, width()).splitlines()


def _sites(trace: Trace, sites: list[tuple[str, Samples]], top: int) -> Iterator[str]:
    """The name in a line of its own: intervals take the width of a terminal."""
    lines = [["Bytes", "blocks", "lifetime", "own"]]
    for _, site in sites[:top]:
        [median] = site.lifetime_quantiles([0.5])
        lines.append(
            [
                _said(site.bytes(), size),
                _said(site.blocks(), _count),
                _median(median, trace.ns_a_unit),
                _own(site),
            ]
        )
    head, *rows = fitted(lines).splitlines()
    yield head
    for row, (name, site) in zip(rows, sites, strict=False):
        samples = f" ({counted(len(site), 'sample')})"
        yield shortened(name, width() - len(samples)) + samples
        yield f"  {row}"
    if len(sites) > top:
        yield f"and {len(sites) - top} more: heapwise trace {trace.path} --top 1000"


def _median(lifetime: Estimate, unit: float) -> str:
    return "to the end" if isnan(lifetime.value) else _time(unit)(lifetime.value)


def _own(site: Samples) -> str:
    handed = site.share_handed_over().value
    return "-" if isnan(handed) else percent(1 - handed)
