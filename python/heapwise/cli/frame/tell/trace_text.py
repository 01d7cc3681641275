"""The contents of a trace as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from heapwise.cli.frame.tell.fitted_lines import boxed, shortened, width
from heapwise.cli.frame.tell.process_text import process_lines
from heapwise.document.aligned import fitted
from heapwise.trace import Summary, Trace
from heapwise.trace.contents import Contents, median_bucket
from heapwise.trace.document import ORDERS
from heapwise.trace.names.named_sites import NamedSite
from heapwise.trace.names.perf_map import names_lacking
from heapwise.trace.names.symbols import module_notes
from heapwise.trace.names.wrappers import bare_name
from heapwise.trace.spread import Spread
from heapwise.wording.lists import counted
from heapwise.wording.numbers import ShowNumber, percent, show, significant, size

HEADS = ("", *(f"p{order * 100:g}" for order in ORDERS), "most")


def trace_lines(
    trace: Trace, found: Contents, named: Sequence[NamedSite], top: int
) -> Iterator[str]:
    """Paragraphs in the order of the questions that users ask first."""
    command = " ".join(trace.command) or trace.path.name
    yield from boxed("Trace", f"{trace.path}: {command}")
    yield from process_lines(trace)
    yield from unfinished_lines(trace)
    yield from build_lines(trace)
    if lacking := names_lacking(trace.modules.maps, trace.modules.perf_map, trace.command):
        yield from boxed("Names", lacking)
    yield from _totals(trace, found)
    yield from _spreads(found, shown_time(trace.ns_a_unit))
    yield ""
    yield from _made(trace, named, top)
    if found.peak.bytes:
        yield ""
        yield from _living(
            named,
            top,
            found.peak.bytes,
            "Live at the peak",
            lambda site: (site.peak_blocks, site.peak_bytes),
        )
    if left := sum(site.end_bytes for site in named):
        yield ""
        yield from _living(
            named, top, left, "Live at the end", lambda site: (site.end_blocks, site.end_bytes)
        )
    yield from _notes(trace, named, top)


def _totals(trace: Trace, found: Contents) -> Iterator[str]:
    summary = trace.summary
    yield from other_program_lines(trace)
    yield from boxed(
        "Calls",
        f"{found.events:,} of {counted(len(found.by_thread), 'thread')}; "
        f"{counted(found.blocks, 'block')}, {size(found.bytes)} asked for",
    )
    if summary and summary.kept_events < summary.events:
        yield from boxed(
            "Windows",
            f"{counted(summary.windows, 'window')} with "
            f"{percent(found.events / summary.events)} of {summary.events:,} calls; "
            "holes between blocks that were made before a window are not known",
        )
    if summary and summary.pauses:
        yield from boxed("Paused", paused(summary))
    if summary:
        yield from boxed(
            "Peak",
            f"{size(summary.peak_live_bytes)} live at once"
            f"{_when(trace, found)}, in at most {counted(summary.peak_live_blocks, 'block')}; "
            f"{counted(summary.end_live_blocks, 'block')} ({size(summary.end_live_bytes)}) "
            "live at the end",
        )
    if found.ended:
        yield from boxed(
            "Threads",
            f"{percent(found.handed_over / found.ended)} of the freed "
            f"blocks ({found.handed_over:,}) are freed by another thread than made "
            "them",
        )
    if found.resizes:
        yield from boxed(
            "Growth",
            f"{found.resizes:,} calls of realloc on a block: from "
            f"{size(found.resized_from)} to {size(found.resized_to)} in all",
        )
    if found.usable_size_calls:
        yield from boxed(
            "Reacts",
            f"{found.usable_size_calls:,} calls of malloc_usable_size: the "
            "program asks the allocator, so it may act otherwise under another",
        )


def build_lines(trace: Trace) -> Iterator[str]:
    """Says which files have other contents than when the program was recorded."""
    for number, note in enumerate(module_notes(trace)):
        yield from boxed("" if number else "Builds", note)


def other_program_lines(trace: Trace) -> Iterator[str]:
    """Says that the process became a program that was not recorded."""
    if trace.summary and (other := trace.summary.other_program):
        yield from boxed(
            "Missed",
            f"{other.program}, which the process became: it was not "
            "recorded, and what follows is of the programs before it",
        )


def _when(trace: Trace, found: Contents) -> str:
    """Only if the events that were kept hold the peak."""
    summary, unit = trace.summary, trace.ns_a_unit
    if not unit or not summary or summary.peak_live_bytes != found.peak.bytes:
        return ""
    return f" {show(found.peak.time * unit, 'ns')} after the start"


def unfinished_lines(trace: Trace) -> Iterator[str]:
    """Nothing for a trace with an end."""
    if trace.running:
        yield from boxed(
            "Running",
            f"process {trace.running} is still being recorded. The newest calls of each thread "
            "are written when the recording pauses, and times have no unit before the end",
        )
    elif trace.damage:
        yield from boxed("Damaged", f"{trace.damage}; what follows is of what could be read")


def paused(summary: Summary) -> str:
    """What is not known after a pause of the recording."""
    return (
        f"{counted(summary.pauses, 'time')}, {significant(summary.paused_s)} s in "
        f"all; {counted(summary.unknown_ends, 'free')} of blocks from before left out, and blocks "
        "that lived when a pause began have no end"
    )


def shown_time(unit: float) -> ShowNumber:
    """Shows a time in units of a trace."""
    return lambda value: show(value * unit, "ns") if unit else f"{value:.0f} units"


def _spreads(found: Contents, shown: ShowNumber) -> Iterator[str]:
    lines = [list(HEADS)]
    for title, spread, say in (
        ("Size", found.size_spread, size),
        ("Lifetime", found.lifetime_spread, shown),
    ):
        if spread.counts.any():
            lines.append(_quantiles(f"{title}, by blocks", spread, say, by_bytes=False))
            lines.append(_quantiles(f"{title}, by bytes", spread, say, by_bytes=True))
    if len(lines) > 1:
        yield ""
        yield from fitted(lines, width()).splitlines()


def _quantiles(title: str, spread: Spread, say: ShowNumber, by_bytes: bool) -> list[str]:
    found = [spread.quantile(order, by_bytes) for order in (*ORDERS, 1.0)]
    return [title, *("-" if each is None else say(each) for each in found)]


def _made(trace: Trace, named: Sequence[NamedSite], top: int) -> Iterator[str]:
    """The call sites with most bytes: the name in a line of its own, so that figures align."""
    shown = shown_time(trace.ns_a_unit)
    lines = [["Bytes", "blocks", "size", "lifetime", "own", "call site"]]
    for site in named[:top]:
        mark = "~" if site.estimated else ""
        lines.append(
            [
                f"{mark}{size(site.bytes)}",
                f"{mark}{site.blocks:,}",
                _sizes(site),
                _lifetime(site, shown),
                _own(site),
                "",
            ]
        )
    yield from _with_names(lines, named[:top])


def _living(
    named: Sequence[NamedSite],
    top: int,
    total: int,
    title: str,
    chosen: Callable[[NamedSite], tuple[int, int]],
) -> Iterator[str]:
    sites = sorted((site for site in named if chosen(site)[1]), key=lambda site: -chosen(site)[1])
    lines = [[title, "share", "blocks", "call site"]]
    for site in sites[:top]:
        blocks, bytes_ = chosen(site)
        mark = "~" if site.estimated else ""
        lines.append([f"{mark}{size(bytes_)}", percent(bytes_ / total), f"{mark}{blocks:,}", ""])
    yield from _with_names(lines, sites[:top])


def _with_names(lines: list[list[str]], sites: Sequence[NamedSite]) -> Iterator[str]:
    """The last column is the call site: as long as the line allows."""
    head, *rows = fitted(lines).splitlines()
    left = head.index("call site")
    room = max(24, width() - left)
    yield head
    for row, site in zip(rows, sites, strict=True):
        yield row.ljust(left) + shortened(site_name(site), room)


def site_name(site: NamedSite) -> str:
    return str(site.place) if site.place else "unknown"


def _notes(trace: Trace, named: Sequence[NamedSite], top: int) -> Iterator[str]:
    shown = named[:top]
    skipped = dict.fromkeys(name for site in shown for name in site.wrappers)
    if shown:
        yield ""
    if skipped:
        names = [shortened(bare_name(name), 40) for name in skipped]
        yield from boxed(
            "Skipped",
            f"wrappers that only allocate for their caller: {', '.join(dict.fromkeys(names))}",
        )
    if shown:
        yield from boxed(
            "Columns",
            "size: smallest..largest; lifetime: the median; own: freed by "
            "the thread that made them",
        )
    if any(site.estimated for site in shown):
        yield from boxed(
            "Estimates",
            "~ marks a wrapper with several callers: its blocks are "
            "shared out by the stacks that were sampled; record --stacks all keeps "
            "every stack. Size, lifetime and thread are of the whole wrapper",
        )
    if len(named) > top:
        yield from boxed(
            "More",
            f"{counted(len(named) - top, 'call site')}: heapwise trace {trace.path} --top 1000",
        )


def _sizes(site: NamedSite) -> str:
    if not site.blocks:
        return "-"
    if site.smallest == site.largest:
        return size(site.smallest)
    return f"{size(site.smallest)}..{size(site.largest)}"


def _lifetime(site: NamedSite, shown: ShowNumber) -> str:
    """The median, to a power of two."""
    bucket = median_bucket(site.lifetimes)
    return "to the end" if bucket is None else f"< {shown(2.0**bucket)}"


def _own(site: NamedSite) -> str:
    return percent(site.own_thread / site.ended) if site.ended else "-"
