"""The contents of a trace: totals, quantiles, and call sites."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heapwise.document import Labelled, Notice, Passage, plain_table
from heapwise.study.recording.tell import (
    ABOUT_SITES,
    HANDED_OVER,
    Site,
    ending,
    more_sites,
    paused,
    shortened,
    shown_time,
    site_table,
)
from heapwise.trace import Summary, Trace
from heapwise.trace.contents import Contents, median_bucket
from heapwise.trace.document import ORDERS
from heapwise.trace.names.named_sites import NamedSite
from heapwise.trace.names.perf_map import names_lacking
from heapwise.trace.names.wrappers import bare_name
from heapwise.trace.spread import Spread
from heapwise.wording.lists import counted, listed
from heapwise.wording.numbers import ShowNumber, percent, show, size

HEADS = ["", *(f"p{order * 100:g}" for order in ORDERS), "most"]

SKIPPED = 4
"""Wrappers that are named: a program has dozens, and nobody reads them."""

COLUMNS = (
    f"{ABOUT_SITES} Size: smallest..largest; lifetime: the median; own: freed by the thread that "
    "made them."
)
ESTIMATES = (
    "~ marks a wrapper with several callers: its blocks are shared out by the stacks that were "
    "sampled, and what lives at the peak or at the end by those of blocks that lived then; record "
    "--stacks all keeps every stack. Size, lifetime and thread are of the whole wrapper."
)


def trace_entries(trace: Trace, found: Contents) -> list[Labelled]:
    """In the order of the questions that users ask first."""
    maps = trace.modules
    lacking = names_lacking(maps.maps, maps.perf_map, trace.command)
    threads = counted(len(found.by_thread), "thread")
    blocks = f"{counted(found.blocks, 'block')}, {size(found.bytes)} asked for"
    handed = percent(found.handed_over / found.ended) if found.ended else ""
    threads_words = f"{handed} of the freed blocks ({found.handed_over:,}) {HANDED_OVER}"
    growth = (
        f"{found.resizes:,} calls of realloc on a block: from {size(found.resized_from)} to "
        f"{size(found.resized_to)} in all"
    )
    reacts = (
        f"{found.usable_size_calls:,} calls of malloc_usable_size: the program asks the "
        "allocator, so it may act otherwise under another"
    )
    return [
        *ending(trace),
        Labelled("Names", lacking),
        Labelled("Calls", f"{found.events:,} of {threads}; {blocks}"),
        *(_summary_entries(trace, trace.summary, found) if trace.summary else []),
        Labelled("Threads", threads_words if handed else ""),
        Labelled("Growth", growth if found.resizes else ""),
        Labelled("Reacts", reacts if found.usable_size_calls else ""),
    ]


def _summary_entries(trace: Trace, summary: Summary, found: Contents) -> list[Labelled]:
    windows = ""
    if summary.kept_events < summary.events:
        windows = (
            f"{counted(summary.windows, 'window')} with "
            f"{percent(found.events / summary.events)} of {summary.events:,} calls; "
            "holes between blocks that were made before a window are not known"
        )
    lost = (
        f"{counted(summary.unknown_ends, 'free')} of blocks from before left out, and blocks "
        "that lived when a pause began have no end"
    )
    end = f"{counted(summary.end_live_blocks, 'block')} ({size(summary.end_live_bytes)})"
    peak = (
        f"{size(summary.peak_live_bytes)} live at once{_when(trace, found)}, in at most "
        f"{counted(summary.peak_live_blocks, 'block')}; {end} live at the end"
    )
    return [Labelled("Windows", windows), paused(summary, lost), Labelled("Peak", peak)]


def _when(trace: Trace, found: Contents) -> str:
    """Only if the events that were kept hold the peak."""
    summary, unit = trace.summary, trace.ns_a_unit
    if not unit or not summary or summary.peak_live_bytes != found.peak.bytes:
        return ""
    return f" {show(found.peak.time * unit, 'ns')} after the start"


def trace_tables(
    trace: Trace, found: Contents, named: Sequence[NamedSite], top: int
) -> list[Passage]:
    shown_sites, shown = named[:top], shown_time(trace.ns_a_unit)
    lines = [
        *_quantiles("Size", found.size_spread, size),
        *_quantiles("Lifetime", found.lifetime_spread, shown),
    ]
    passages: list[Passage] = [plain_table([HEADS, *lines])]
    passages += site_table(
        "Call sites",
        ["bytes", "blocks", "size", "lifetime", "own"],
        (
            (
                site_name(site),
                [*_amounts(site, site.blocks, site.bytes), *_kinds(site, shown)],
                [_marked(site, size(site.peak_bytes)), _marked(site, size(site.end_bytes))],
            )
            for site in shown_sites
        ),
        ["live at the peak", "live at the end"],
    )
    return [
        *passages,
        *(Notice(words) for words in _notes(shown_sites)),
        more_sites(top, len(named), f"heapwise trace {trace.path}"),
        *_living(named, top, "Live at the peak", lambda s: (s.peak_blocks, s.peak_bytes)),
        *_living(named, top, "Live at the end", lambda s: (s.end_blocks, s.end_bytes)),
    ]


def _quantiles(title: str, spread: Spread, say: ShowNumber) -> list[list[str]]:
    if not spread.counts.any():
        return []
    return [
        [
            f"{title}, by {'bytes' if by_bytes else 'blocks'}",
            *(
                "-" if (each := spread.quantile(order, by_bytes)) is None else say(each)
                for order in (*ORDERS, 1.0)
            ),
        ]
        for by_bytes in (False, True)
    ]


def _marked(site: NamedSite, text: str) -> str:
    return f"~{text}" if site.estimated else text


def _amounts(site: NamedSite, blocks: int, bytes_: int) -> list[str]:
    return [_marked(site, size(bytes_)), _marked(site, f"{blocks:,}")]


def _kinds(site: NamedSite, shown: ShowNumber) -> list[str]:
    """Sizes, the median of the lifetimes to a power of two, and the share that its own thread
    freed."""
    bucket = median_bucket(site.lifetimes)
    sizes = f"{size(site.smallest)}..{size(site.largest)}"
    if site.smallest == site.largest:
        sizes = size(site.smallest)
    return [
        sizes if site.blocks else "-",
        "to the end" if bucket is None else f"< {shown(2.0**bucket)}",
        percent(site.own_thread / site.ended) if site.ended else "-",
    ]


def _living(
    named: Sequence[NamedSite], top: int, title: str, chosen: Callable[[NamedSite], tuple[int, int]]
) -> list[Passage]:
    sites = sorted((site for site in named if chosen(site)[1]), key=lambda site: -chosen(site)[1])
    total = sum(chosen(site)[1] for site in sites)
    rows: list[Site] = []
    for site in sites[:top]:
        amounts = _amounts(site, *chosen(site))
        rows.append((site_name(site), [*amounts, percent(chosen(site)[1] / total)], []))
    return site_table(title, ["bytes", "blocks", "share"], rows)


def site_name(site: NamedSite) -> str:
    return str(site.place) if site.place else "unknown"


def _notes(shown: Sequence[NamedSite]) -> list[str]:
    skipped = dict.fromkeys(name for site in shown for name in site.wrappers)
    names = dict.fromkeys(shortened(bare_name(name), 40) for name in skipped)
    words = f"Skipped wrappers that only allocate for their caller: {listed(names, SKIPPED)}."
    estimates = ESTIMATES if any(site.estimated for site in shown) else ""
    return [COLUMNS, words if names else "", estimates] if shown else []
