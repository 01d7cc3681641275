"""What ``heapwise trace --json`` prints: sizes in bytes, times in nanoseconds.

``schema/trace.schema.json`` is made from these classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from heapwise.trace.contents import EXACT_SIZES, Contents, SiteContents
from heapwise.trace.file import Trace
from heapwise.trace.names.named_sites import NamedSite
from heapwise.trace.names.symbols import Place, Symbols, module_notes
from heapwise.trace.recording_texts import Summary
from heapwise.trace.siblings import Sibling, siblings
from heapwise.trace.spread import Spread

ORDERS = (0.5, 0.9, 0.99)
"""The orders of quantiles: 0.5 is the median."""


class Quantiles(msgspec.Struct, frozen=True):
    """Quantiles of sizes in bytes, or of lifetimes in nanoseconds. None if nothing was counted.
    They are at most 1/64 too large; ``most`` is exact."""

    p50: float | None
    p90: float | None
    p99: float | None
    most: float | None


class LiveBytes(msgspec.Struct, frozen=True):
    """A point of the curve of live bytes; ns: since the start."""

    ns: int
    bytes: int


class LifetimeBucket(msgspec.Struct, frozen=True):
    """Freed blocks whose lifetime is below ``below_ns``, and not below half of it."""

    below_ns: float
    count: int


class SourcePlace(msgspec.Struct, frozen=True):
    """A place in a program. None where no symbol or no debug information is known."""

    module: str | None
    function: str | None
    line: str | None
    offset: int | None


class TraceProcess(msgspec.Struct, frozen=True):
    """A process of the recording, and its trace. own: it is the one of this document."""

    trace: str
    pid: int
    parent: int
    own: bool
    forked: bool
    command: list[str]
    events: int


class TraceSite(msgspec.Struct, frozen=True):
    """A return address of an allocation, as it is in the trace. own_thread: ended blocks that the
    thread ended that made them. peak_bytes: when most of this site lived."""

    module: str | None
    function: str | None
    line: str | None
    offset: int | None
    count: int
    bytes: int
    smallest: int | None
    largest: int
    ended: int
    own_thread: int
    peak_bytes: int
    live_blocks_at_peak: int
    live_bytes_at_peak: int
    live_blocks_at_end: int
    live_bytes_at_end: int


class NamedTraceSite(msgspec.Struct, frozen=True):
    """The first frame that is not an allocation wrapper. estimated: a wrapper has other callers,
    too, and the figures are shared out by the sampled stacks. wrappers: what was skipped."""

    place: SourcePlace
    blocks: int
    bytes: int
    live_blocks_at_peak: int
    live_bytes_at_peak: int
    live_blocks_at_end: int
    live_bytes_at_end: int
    estimated: bool
    wrappers: list[str]


class PeakMoment(msgspec.Struct, frozen=True):
    """When most bytes lived, of what could be read."""

    ns: int
    blocks: int
    bytes: int


class TraceDocument(msgspec.Struct, frozen=True):
    """A trace. damage: what could not be read, in words. sizes: blocks by exact size. by_bytes:
    each block counts as often as it has bytes. summary: of the whole recording. builds: sentences
    on files that are not the recorded ones any more."""

    about: dict[str, Any]
    summary: Summary | None
    damage: str
    events: int
    blocks: int
    bytes: int
    ended: int
    handed_over: int
    resizes: int
    resized_from_bytes: int
    resized_to_bytes: int
    failed: int
    usable_size_calls: int
    peak: PeakMoment
    size: Quantiles
    size_by_bytes: Quantiles
    lifetime_ns: Quantiles
    lifetime_ns_by_bytes: Quantiles
    calls: dict[str, int]
    events_by_thread: dict[str, int]
    sizes: dict[str, int]
    sizes_by_power: list[int]
    lifetimes_by_power_of_ns: list[LifetimeBucket]
    live_bytes: list[LiveBytes]
    named_sites: list[NamedTraceSite]
    sites: list[TraceSite]
    processes: list[TraceProcess] = []
    builds: list[str] = []
    kind: str = "trace"


def trace_document(
    trace: Trace, found: Contents, symbols: Symbols, named: Sequence[NamedSite]
) -> TraceDocument:
    """All of it. Times are 0 if the trace was cut off before the unit of time was known."""
    unit = trace.ns_a_unit
    symbols.learn(
        address for number in found.sites if (address := trace.site_address(number)) is not None
    )
    return TraceDocument(
        about=trace.about,
        summary=trace.summary,
        damage=trace.damage,
        events=found.events,
        blocks=found.blocks,
        bytes=found.bytes,
        ended=found.ended,
        handed_over=found.handed_over,
        resizes=found.resizes,
        resized_from_bytes=found.resized_from,
        resized_to_bytes=found.resized_to,
        failed=found.failed,
        usable_size_calls=found.usable_size_calls,
        peak=PeakMoment(round(found.peak.time * unit), found.peak.blocks, found.peak.bytes),
        size=quantiles_of(found.size_spread, 1.0),
        size_by_bytes=quantiles_of(found.size_spread, 1.0, by_bytes=True),
        lifetime_ns=quantiles_of(found.lifetime_spread, unit),
        lifetime_ns_by_bytes=quantiles_of(found.lifetime_spread, unit, by_bytes=True),
        calls={kind.name.lower(): count for kind, count in found.calls.items()},
        events_by_thread={str(thread): count for thread, count in found.by_thread.items()},
        sizes={
            str(bytes_): int(found.sizes[bytes_])
            for bytes_ in range(EXACT_SIZES + 1)
            if found.sizes[bytes_]
        },
        sizes_by_power=[int(count) for count in found.size_buckets],
        lifetimes_by_power_of_ns=[
            LifetimeBucket(2.0**k * unit, int(count))
            for k, count in enumerate(found.lifetimes)
            if count
        ],
        live_bytes=[LiveBytes(round(time * unit), live) for time, live in found.live],
        named_sites=[_named(site) for site in named],
        sites=[
            _site(number, site, trace, found, symbols)
            for number, site in sorted(found.sites.items(), key=lambda item: -item[1].count)
        ],
        processes=[_process(each, trace) for each in siblings(trace)],
        builds=module_notes(trace),
    )


def quantiles_of(spread: Spread, unit: float, by_bytes: bool = False) -> Quantiles:
    found = [spread.quantile(order, by_bytes) for order in (*ORDERS, 1.0)]
    return Quantiles(*(None if each is None else each * unit for each in found))


def _process(each: Sibling, trace: Trace) -> TraceProcess:
    return TraceProcess(
        str(each.path),
        each.process.pid,
        each.process.parent,
        each.path.name == trace.path.name,
        each.process.forked,
        each.command,
        each.events,
    )


def source_place(place: Place | None) -> SourcePlace:
    if place is None:
        return SourcePlace(None, None, None, None)
    return SourcePlace(place.module, place.function, place.line, place.offset)


def _named(site: NamedSite) -> NamedTraceSite:
    return NamedTraceSite(
        source_place(site.place),
        site.blocks,
        site.bytes,
        site.peak_blocks,
        site.peak_bytes,
        site.end_blocks,
        site.end_bytes,
        site.estimated,
        list(site.wrappers),
    )


def _site(
    number: int, site: SiteContents, trace: Trace, found: Contents, symbols: Symbols
) -> TraceSite:
    address = trace.site_address(number)
    place = source_place(symbols.place(address) if address is not None else None)
    return TraceSite(
        place.module,
        place.function,
        place.line,
        place.offset,
        site.count,
        site.bytes,
        site.smallest if site.count else None,
        site.largest,
        site.ended,
        site.own_thread,
        site.peak_bytes,
        *found.peak.at_peak(number),
        *found.peak.at_end(number),
    )
