"""A profile: estimates with intervals, their lifetimes, and call sites."""

from __future__ import annotations

from math import isnan

from heapwise.document import Labelled, Passage, plain_table, under
from heapwise.study.recording.tell import (
    HANDED_OVER,
    ending,
    more_sites,
    paused,
    shown_time,
    site_table,
)
from heapwise.trace import Trace
from heapwise.trace.profile import CONFIDENCE, Estimate, Samples
from heapwise.trace.profile_document import LIFETIME_ORDERS
from heapwise.wording.lists import counted
from heapwise.wording.numbers import ShowNumber, percent, significant, size

LOST = "blocks that were made in a pause are not in the figures"


def profile_entries(trace: Trace, found: Samples) -> list[Labelled]:
    """In the order of the questions that users ask first."""
    words = (
        f"{counted(len(found), 'block')}, one for each {size(trace.sample_every)} asked for on "
        f"average. Figures are estimates, with {CONFIDENCE * 100:g} % intervals"
    )
    entries = [*ending(trace), Labelled("Samples", words)]
    windows = False
    if summary := trace.summary:
        windows = summary.kept_events < summary.events
        share = f"with {percent(summary.kept_events / summary.events)}" if windows else ""
        words = f"{counted(summary.windows, 'window')} {share} of the samples"
        missed = f"{summary.events_missed:,} samples; figures are too low by their share"
        entries += [
            Labelled("Windows", f"{words}; figures are of the windows" if windows else ""),
            Labelled("Missed", missed if summary.events_missed else ""),
            paused(summary, LOST),
        ]
    if not len(found):
        return entries
    asked = f"{said(found.blocks(), _count)}; {said(found.bytes(), size)} asked for"
    live = "" if windows else f"{said(found.live_bytes(), size)} were not freed"
    freed = found.ended.any()
    handed = f"{said(found.share_handed_over(), percent)} of the freed blocks" if freed else ""
    return [
        *entries,
        Labelled("Blocks", asked),
        Labelled("Live", live),
        Labelled("Threads", f"{handed} {HANDED_OVER}" if freed else ""),
    ]


def profile_tables(
    trace: Trace, found: Samples, sites: list[tuple[str, Samples]], top: int
) -> list[Passage]:
    shown = shown_time(trace.ns_a_unit)
    lifetimes = found.lifetime_quantiles(LIFETIME_ORDERS) if found.ended.any() else []
    lines = [
        [f"{order * 100:g} % of the freed blocks", shown(each.value), _ends(each, shown)]
        for order, each in zip(LIFETIME_ORDERS, lifetimes, strict=False)
    ]
    table = plain_table([["lifetime", "at most", "95 % interval"], *lines])
    return [
        *under("Lifetimes of freed blocks", [table]),
        *site_table(
            "Call sites",
            ["bytes", "blocks", "lifetime", "own"],
            (
                (f"{name} ({counted(len(site), 'sample')})", _figures(site, shown), [])
                for name, site in sites[:top]
            ),
        ),
        more_sites(top, len(sites), f"heapwise trace {trace.path}"),
    ]


def _figures(site: Samples, shown: ShowNumber) -> list[str]:
    [median] = site.lifetime_quantiles([0.5])
    handed = site.share_handed_over().value
    return [
        said(site.bytes(), size),
        said(site.blocks(), _count),
        "to the end" if isnan(median.value) else shown(median.value),
        "-" if isnan(handed) else percent(1 - handed),
    ]


def _count(value: float) -> str:
    return significant(round(value))


def said(estimate: Estimate, show_one: ShowNumber) -> str:
    return f"{show_one(estimate.value)} ({_ends(estimate, show_one)})"


def _ends(estimate: Estimate, show_one: ShowNumber) -> str:
    return f"{show_one(estimate.low)} to {show_one(estimate.high)}"
