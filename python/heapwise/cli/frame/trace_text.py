"""The contents of a trace as lines of text, and as a document for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from heapwise.cli.frame.table import align
from heapwise.trace import Summary, Trace
from heapwise.trace.columns import Numbers
from heapwise.trace.contents import EXACT_SIZES, Contents, SiteContents, median_bucket
from heapwise.trace.symbols import Symbols
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent, show, significant, size

BAR = 40
"""The longest bar, in characters."""


def trace_lines(trace: Trace, found: Contents, symbols: Symbols, top: int) -> Iterator[str]:
    """Paragraphs in the order of the questions that users ask first."""
    command = " ".join(trace.about.get("command", [])) or trace.path.name
    yield f"Trace     {trace.path}: {command}"
    if trace.damage:
        yield f"Damaged   {trace.damage}; what follows is of what could be read"
    yield from _totals(trace, found)
    yield ""
    yield from _histogram("Sizes", found.size_buckets, lambda k: f"up to {size(2**k - 1)}"
                          if k else "0 B", found.blocks)
    yield ""
    unit = trace.ns_a_unit
    yield from _histogram(
        "Lifetimes", found.lifetimes,
        lambda k: f"below {show(2**k * unit, 'ns')}" if unit else f"below 2^{k} units",
        found.ended)
    yield ""
    yield from _sites(trace, found, symbols, top)


def _totals(trace: Trace, found: Contents) -> Iterator[str]:
    summary = trace.summary
    yield (f"Calls     {found.events:,} of {len(found.by_thread)} threads; {found.blocks:,} "
           f"blocks, {size(found.bytes)} asked for")
    if summary and summary.kept_events < summary.events:
        yield (f"Windows   {summary.windows} windows hold {percent(found.events / summary.events)} "
               f"of {summary.events:,} calls; holes between blocks that were made before a window "
               "are not known")
    if summary and summary.pauses:
        yield paused(summary)
    if summary:
        yield (f"Peak      {size(summary.peak_live_bytes)} live at once, in at most "
               f"{summary.peak_live_blocks:,} blocks; {summary.end_live_blocks:,} blocks "
               f"({size(summary.end_live_bytes)}) live at the end")
    if found.ended:
        yield (f"Threads   {percent(found.handed_over / found.ended)} of the freed blocks "
               f"({found.handed_over:,}) are freed by another thread than made them")
    if found.resizes:
        yield f"Growth    {found.resizes:,} calls of realloc on a block"
    if found.usable_size_calls:
        yield (f"Reacts    {found.usable_size_calls:,} calls of malloc_usable_size: the program "
               "asks the allocator, so it may act otherwise under another")


def paused(summary: Summary) -> str:
    """What is not known after a pause of the recording."""
    return (f"Paused    {counted(summary.pauses, 'time')}, {significant(summary.paused_s)} s in "
            f"all; {summary.unknown_ends:,} frees of blocks from before are left out, and blocks "
            "that lived when a pause began have no end")


def _histogram(title: str, numbers: Numbers, label: Any, total: int) -> Iterator[str]:
    if not total:
        return
    most = int(numbers.max())
    lines = [[title, "share", ""]]
    for bucket, count in enumerate(numbers):
        if count:
            bar = "#" * max(1, round(BAR * int(count) / most))
            lines.append([f"  {label(bucket)}", percent(int(count) / total), bar])
    yield from align(lines).splitlines()


def _sites(trace: Trace, found: Contents, symbols: Symbols, top: int) -> Iterator[str]:
    chosen = sorted(found.sites.items(), key=lambda item: -item[1].count)[:top]
    addresses = {number: trace.site_address(number) for number, _ in chosen}
    symbols.learn(address for address in addresses.values() if address is not None)
    lines = [["Call sites", "blocks", "bytes", "size", "lifetime", "own thread", "peak"]]
    for number, site in chosen:
        address = addresses[number]
        name = str(symbols.place(address)) if address is not None else "unknown"
        lines.append([f"  {_shortened(name)}", f"{site.count:,}", size(site.bytes), _sizes(site),
                      _lifetime(site, trace.ns_a_unit), _own(site), size(site.peak_bytes)])
    yield from align(lines).splitlines()
    if len(found.sites) > top:
        yield f"  and {len(found.sites) - top} more: heapwise trace {trace.path} --top 1000"


def _shortened(name: str, most: int = 60) -> str:
    return name if len(name) <= most else f"{name[:most - 25]}...{name[-22:]}"


def _sizes(site: SiteContents) -> str:
    if not site.count:
        return "-"
    if site.smallest == site.largest:
        return size(site.smallest)
    return f"{size(site.smallest)} to {size(site.largest)}"


def _lifetime(site: SiteContents, unit: float) -> str:
    bucket = median_bucket(site.lifetimes)
    if bucket is None:
        return "to the end"
    return f"below {show(2**bucket * unit, 'ns')}" if unit else f"below 2^{bucket} units"


def _own(site: SiteContents) -> str:
    return percent(site.own_thread / site.ended) if site.ended else "-"


def trace_document(trace: Trace, found: Contents, symbols: Symbols) -> dict[str, Any]:
    """All of it, for --json: sizes in bytes, times in nanoseconds."""
    unit = trace.ns_a_unit
    symbols.learn(address for number in found.sites
                  if (address := trace.site_address(number)) is not None)
    return {
        "about": trace.about, "summary": trace.summary, "damage": trace.damage,
        "events": found.events, "blocks": found.blocks, "bytes": found.bytes,
        "ended": found.ended, "handed_over": found.handed_over, "resizes": found.resizes,
        "failed": found.failed, "usable_size_calls": found.usable_size_calls,
        "calls": {kind.name.lower(): count for kind, count in found.calls.items()},
        "events_by_thread": {str(thread): count for thread, count in found.by_thread.items()},
        "sizes": {str(bytes_): int(found.sizes[bytes_]) for bytes_ in range(EXACT_SIZES + 1)
                  if found.sizes[bytes_]},
        "sizes_by_power": [int(count) for count in found.size_buckets],
        "lifetimes_by_power_of_ns": [
            {"below_ns": significant(2.0**k * unit), "count": int(count)}
            for k, count in enumerate(found.lifetimes) if count],
        "live_bytes": [{"ns": round(time * unit), "bytes": live} for time, live in found.live],
        "sites": [
            _site_document(site, trace.site_address(number), symbols)
            for number, site in sorted(found.sites.items(), key=lambda item: -item[1].count)],
    }


def _site_document(site: SiteContents, address: int | None, symbols: Symbols) -> dict[str, Any]:
    place = symbols.place(address) if address is not None else None
    return {
        "module": place.module if place else None, "function": place.function if place else None,
        "line": place.line if place else None, "offset": place.offset if place else None,
        "count": site.count, "bytes": site.bytes,
        "smallest": site.smallest if site.count else None,
        "largest": site.largest, "ended": site.ended, "own_thread": site.own_thread,
        "peak_bytes": site.peak_bytes,
    }
