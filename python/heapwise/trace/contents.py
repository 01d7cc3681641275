"""What is in a trace: sizes, lifetimes, threads, call sites, and live bytes over time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from heapwise.trace.columns import Events, Integers, Kind, LiveBlocks, Numbers
from heapwise.trace.file import Frame, FrameKind, Trace
from heapwise.trace.live_table import Ended, LiveTable
from heapwise.trace.peak import PeakSites
from heapwise.trace.spread import Spread

Flags = NDArray[np.bool_]
EXACT_SIZES = 4096
"""Sizes up to here are counted one by one, larger ones by powers of two."""

BUCKETS = 65
"""The number of buckets, by powers of two: bucket k holds numbers of [2**(k-1), 2**k), bucket 0
holds 0."""

LARGE_BYTES = 65536
"""Each block of at least this size has its stack (bench/recorder/session.hpp): one of them counts
for more than thousands of others, of which few have one."""

POINTS = 2000
"""The points of the curve of live bytes, at most."""


@dataclass
class SiteContents:
    """The blocks of one call site.

    count, bytes: of all blocks. ended: those whose end is in the trace. own_thread: of these, freed
    by the thread that made them. lifetimes: by powers of two of a unit of time. smallest, largest:
    sizes in bytes. live_bytes, peak_bytes: now, and at most; the latter of this site alone.
    live_blocks, peak_blocks: at these moments. lifetime_sum: also of blocks that nobody freed.
    large_count, large_bytes: of blocks of at least LARGE_BYTES.
    """

    count: int = 0
    bytes: int = 0
    ended: int = 0
    own_thread: int = 0
    smallest: int = 1 << 62
    largest: int = 0
    live_bytes: int = 0
    peak_bytes: int = 0
    live_blocks: int = 0
    peak_blocks: int = 0
    lifetime_sum: int = 0
    large_count: int = 0
    large_bytes: int = 0
    lifetimes: Numbers = field(default_factory=lambda: np.zeros(BUCKETS, np.uint64))


@dataclass
class StackBlocks:
    """The blocks of one stack that have it in the trace: of at least LARGE_BYTES, and smaller.

    begins_small: whether the first of them is one of the smaller.
    """

    large_count: int = 0
    large_bytes: int = 0
    small_count: int = 0
    small_bytes: int = 0
    begins_small: bool = False

    def add(self, size: int) -> None:
        if size >= LARGE_BYTES:
            self.large_count += 1
            self.large_bytes += size
        else:
            self.begins_small |= not self.large_count
            self.small_count += 1
            self.small_bytes += size


@dataclass
class Contents:
    """All of it. Times in units of the trace (``Trace.ns_a_unit``).

    sizes: blocks by exact size, up to EXACT_SIZES. size_buckets, lifetimes: by powers of two.
    handed_over: blocks that another thread freed than made. growth: for each resize, by powers of
    two of new size over old, from 2**-8 to 2**8. live: (time, live bytes) at the starts of frames.
    peak: what lived at the peak and at the end. size_spread, lifetime_spread: weighted by bytes.
    resized_from, resized_to: bytes of all resized blocks, before and after.
    """

    events: int = 0
    blocks: int = 0
    bytes: int = 0
    ended: int = 0
    handed_over: int = 0
    resizes: int = 0
    failed: int = 0
    usable_size_calls: int = 0
    calls: Counter[Kind] = field(default_factory=Counter)
    by_thread: Counter[int] = field(default_factory=Counter)
    sizes: Numbers = field(default_factory=lambda: np.zeros(EXACT_SIZES + 1, np.uint64))
    size_buckets: Numbers = field(default_factory=lambda: np.zeros(BUCKETS, np.uint64))
    byte_buckets: Numbers = field(default_factory=lambda: np.zeros(BUCKETS, np.uint64))
    lifetimes: Numbers = field(default_factory=lambda: np.zeros(BUCKETS, np.uint64))
    sites: dict[int, SiteContents] = field(default_factory=dict)
    live: list[tuple[int, int]] = field(default_factory=list)
    peak: PeakSites = field(default_factory=PeakSites)
    size_spread: Spread = field(default_factory=Spread)
    lifetime_spread: Spread = field(default_factory=Spread)
    resized_from: int = 0
    resized_to: int = 0
    stacks: dict[tuple[int, ...], StackBlocks] = field(default_factory=dict)
    duration: int = 0


def read_contents(trace: Trace) -> Contents:
    """Reads the whole trace once. Memory: one frame and the live blocks."""
    found, table = Contents(), LiveTable()
    frames = [frame for frame in trace.frames if frame.kind is FrameKind.EVENTS]
    every = max(1, len(frames) // POINTS)
    window_live = {frame.window: frame for frame in trace.frames if frame.kind is FrameKind.LIVE}
    points = max(1, POINTS // max(1, len(frames)))
    for place, (frame, events) in enumerate(zip(frames, trace.events(), strict=False)):
        if start := window_live.pop(frame.window, None):
            live = trace.live_of(start)
            table.begin_window(live, frame.first_time)
            _begin_window(found, live)
            found.peak.begin_window(live)
        ended = table.take(events)
        found.peak.take(events, ended)
        if place % every == 0 or place == len(frames) - 1:
            found.live += _live_points(frame, events, ended, points)
        _take(found, events, ended)
        if len(events.time):
            found.duration = int(events.time[-1])
    _take_survivors(found, table)
    return found


def _take_survivors(found: Contents, table: LiveTable) -> None:
    """Blocks that nobody freed lived until the end."""
    left = table.alive()
    sums = np.zeros(int(left["site"].max(initial=0)) + 1, np.int64)
    np.add.at(sums, left["site"].astype(np.int64), found.duration - left["time"].astype(np.int64))
    for number in np.flatnonzero(sums).tolist():
        found.sites[number].lifetime_sum += int(sums[number])


def _begin_window(found: Contents, live: LiveBlocks) -> None:
    """Only these blocks live now: those that began or ended between two windows were not seen."""
    for site in found.sites.values():
        site.live_bytes, site.live_blocks = 0, 0
    numbers, rows = np.unique(live.site, return_inverse=True)
    sums = np.zeros(len(numbers), np.int64)
    np.add.at(sums, rows, live.size.astype(np.int64))
    blocks = np.bincount(rows, minlength=len(numbers))
    for number, bytes_, count in zip(numbers.tolist(), sums.tolist(), blocks.tolist(), strict=True):
        site = found.sites.setdefault(number, SiteContents())
        site.live_bytes, site.live_blocks = bytes_, count
        if bytes_ > site.peak_bytes:
            site.peak_bytes, site.peak_blocks = bytes_, site.live_blocks


def _live_points(frame: Frame, events: Events, ended: Ended, points: int) -> list[tuple[int, int]]:
    """(time, live bytes) at the begin of the frame, and evenly through it."""
    change = np.where(events.makes, events.size, 0).astype(np.int64)
    np.subtract.at(change, ended.row, ended.size.astype(np.int64))
    live = frame.live_bytes + np.cumsum(change)
    rows = np.unique(np.linspace(0, len(live) - 1, min(points, len(live))).astype(np.int64))
    return [
        (frame.first_time, frame.live_bytes),
        *zip(events.time[rows].tolist(), live[rows].tolist(), strict=True),
    ]


def _take(found: Contents, events: Events, ended: Ended) -> None:
    makes = events.makes
    sizes = events.size[makes]
    found.events += len(events.kind)
    found.blocks += len(sizes)
    found.bytes += int(sizes.sum())
    calls = np.bincount(events.kind, minlength=max(Kind) + 1).tolist()
    found.calls += Counter({kind: calls[kind] for kind in Kind if calls[kind]})
    for thread, count in zip(*np.unique(events.thread, return_counts=True), strict=True):
        found.by_thread[int(thread)] += int(count)
    found.sizes += np.bincount(
        sizes[sizes <= EXACT_SIZES].astype(np.int64), minlength=EXACT_SIZES + 1
    ).astype(np.uint64)
    buckets = power_buckets(sizes)
    found.size_buckets += np.bincount(buckets, minlength=BUCKETS).astype(np.uint64)
    found.byte_buckets += np.bincount(buckets, sizes.astype(float), BUCKETS).astype(np.uint64)
    lifetimes = power_buckets(events.time[ended.row] - ended.time)
    found.lifetimes += np.bincount(lifetimes, minlength=BUCKETS).astype(np.uint64)
    own = events.thread[ended.row] == ended.thread
    found.ended += len(own)
    found.handed_over += int((~own).sum())
    found.resizes += int((events.kind == Kind.RESIZE_TO).sum())
    found.failed += int((events.kind == Kind.FAILED).sum())
    found.usable_size_calls += int((events.kind == Kind.USABLE_SIZE).sum())
    found.size_spread.add(sizes, sizes)
    found.lifetime_spread.add(events.time[ended.row] - ended.time, ended.size)
    found.resized_from += int(ended.size[events.kind[ended.row] == Kind.RESIZE_FROM].sum())
    found.resized_to += int(events.size[events.kind == Kind.RESIZE_TO].sum())
    _take_sites(found, events, ended, own, lifetimes)
    for stack in events.stacks:
        size = int(events.size[stack.row]) if stack.row < len(events.size) else 0
        found.stacks.setdefault(stack.addresses, StackBlocks()).add(size)


def _take_sites(
    found: Contents, events: Events, ended: Ended, own: Flags, lifetimes: Integers
) -> None:
    """Adds the events of each site; its live bytes are followed from event to event."""
    # What each row adds to the live bytes of a site: of the one that made the block.
    change = np.where(events.makes, events.size, 0).astype(np.int64)
    change[ended.row] = -ended.size.astype(np.int64)
    site_of = events.site.copy()
    site_of[ended.row] = ended.site
    death = np.full(len(change), -1)
    death[ended.row] = np.arange(len(ended.row))
    rows = np.flatnonzero(events.makes | (death >= 0))
    order = rows[_stable_order(site_of[rows])]
    ages = (events.time[ended.row] - ended.time).astype(np.int64)
    numbers = site_of[order]
    starts = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    for part in np.split(order, starts) if len(order) else ():
        site = found.sites.setdefault(int(site_of[part[0]]), SiteContents())
        changes, deaths = change[part], death[part]
        is_birth = deaths < 0
        deaths, births = deaths[~is_birth], changes[is_birth]
        if len(births):
            site.count += len(births)
            site.bytes += int(births.sum())
            site.smallest = min(site.smallest, int(births.min()))
            site.largest = max(site.largest, int(births.max()))
            large = births[births >= LARGE_BYTES]
            site.large_count += len(large)
            site.large_bytes += int(large.sum())
        site.ended += len(deaths)
        site.own_thread += int(own[deaths].sum())
        site.lifetime_sum += int(ages[deaths].sum())
        site.lifetimes += np.bincount(lifetimes[deaths], minlength=BUCKETS).astype(np.uint64)
        live = site.live_bytes + np.cumsum(changes)
        blocks = site.live_blocks + np.cumsum(np.where(is_birth, 1, -1))
        highest = int(np.argmax(live))
        if live[highest] > site.peak_bytes:
            site.peak_bytes, site.peak_blocks = int(live[highest]), int(blocks[highest])
        site.live_bytes, site.live_blocks = int(live[-1]), int(blocks[-1])


def _stable_order(numbers: Numbers) -> NDArray[np.intp]:
    """numpy sorts numbers of 16 bits by their digits, which takes a tenth of the time."""
    narrow = np.uint16 if numbers.max(initial=0) < 1 << 16 else np.uint64
    return np.argsort(numbers.astype(narrow), kind="stable")


def power_buckets(numbers: Numbers) -> Integers:
    """0 for 0, else the k with 2**(k-1) <= number < 2**k."""
    _, exponent = np.frexp(numbers.astype(np.float64))
    return np.where(numbers == 0, 0, exponent).astype(np.int64)


def median_bucket(histogram: Numbers) -> int | None:
    """The bucket that holds the median; None of an empty histogram."""
    total = int(histogram.sum())
    if total == 0:
        return None
    return int(np.searchsorted(np.cumsum(histogram), (total + 1) // 2))
