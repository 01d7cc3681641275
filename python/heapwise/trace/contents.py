"""What is in a trace: sizes, lifetimes, threads, call sites, and live bytes over time."""

from __future__ import annotations

import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec
import numpy as np

from heapwise.errors import Problem
from heapwise.natives import CONTENTS, native_part
from heapwise.trace.columns import Integers, Kind, Numbers
from heapwise.trace.file import FRAME, FrameKind, Trace
from heapwise.trace.peak import PeakSites
from heapwise.trace.spread import Spread
from heapwise.wording.visible import visible

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


class Sampled(msgspec.Struct, frozen=True, array_like=True):
    """Blocks of one stack that have it in the trace: of at least LARGE_BYTES, and smaller.

    has_first: whether the first block of the stack is among them, and is one of the smaller.
    """

    large_count: int = 0
    large_bytes: int = 0
    small_count: int = 0
    small_bytes: int = 0
    has_first: bool = False


class StackBlocks(msgspec.Struct, frozen=True):
    """The blocks of one stack that have it in the trace: all, those that lived when most bytes
    lived, and those that nobody freed."""

    every: Sampled = Sampled()
    at_peak: Sampled = Sampled()
    at_end: Sampled = Sampled()


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


class _Site(msgspec.Struct, frozen=True):
    """As bench/contents/print.cpp prints it. at_peak: blocks and bytes when most bytes lived."""

    number: int
    count: int
    bytes: int
    ended: int
    own_thread: int
    smallest: int
    largest: int
    live_bytes: int
    peak_bytes: int
    live_blocks: int
    peak_blocks: int
    lifetime_sum: int
    large_count: int
    large_bytes: int
    at_peak: tuple[int, int]
    lifetimes: list[int]


class _Read(msgspec.Struct, frozen=True):
    """What heapwise-contents prints. Lists of counts have no zeros at their end. addresses: of call
    sites, from a number on."""

    damage: str
    damaged_frame: int
    blocks: int
    bytes: int
    ended: int
    handed_over: int
    resized_from: int
    resized_to: int
    duration: int
    peak_bytes: int
    peak_time: int
    calls: list[int]
    threads: list[int]
    sizes: list[int]
    size_buckets: list[int]
    byte_buckets: list[int]
    lifetimes: list[int]
    size_spread: list[tuple[int, int, int, int]]
    lifetime_spread: list[tuple[int, int, int, int]]
    live: list[tuple[int, int]]
    sites: list[_Site]
    stacks: list[tuple[list[int], Sampled, Sampled, Sampled]]
    addresses: list[tuple[int, list[int]]]


def read_contents(trace: Trace, tell: Callable[[float], None] | None = None) -> Contents:
    """Reads the whole trace once. Memory: one frame and the live blocks. tell: is given the share
    that was read, of 0 to 1.

    A native program reads it: a trace of 1 GB has about 900 million events. Problem E052 if that
    program is not there, or fails.
    """
    kinds = (FrameKind.EVENTS, FrameKind.LIVE)
    places = [each.offset - FRAME.size for each in trace.frames if each.kind in kinds]
    with subprocess.Popen(
        [str(native_part(CONTENTS)), f"/proc/self/fd/{trace.file}", str(trace.version)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[trace.file],
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        assert reader.stderr is not None
        with suppress(BrokenPipeError):  # it has failed, and says why
            reader.stdin.write(struct.pack(f"={len(places)}Q", *places))
            reader.stdin.close()
        printed = b""
        for printed in reader.stdout:
            if tell and printed[:-1].isdigit():
                tell(int(printed) / 100)
        said = visible(reader.stderr.read().decode(errors="replace").strip())
        if reader.wait() != 0:
            raise Problem(
                "E052",
                f"{CONTENTS} ended with {reader.returncode}: {said or 'it said nothing'}",
                why="It reads the trace, and needs memory for each block that lived at once.",
                do="ulimit -v unlimited, or run it where more memory is free",
            )
    read = msgspec.json.decode(printed, type=_Read)
    if read.damage:
        trace.damage = trace.damage or f"frame {read.damaged_frame}: {read.damage}"
    for first, addresses in read.addresses:
        trace.learn_sites(first, addresses)
    calls = Counter({kind: read.calls[kind] for kind in Kind if kind < len(read.calls)})
    return Contents(
        events=sum(read.calls),
        blocks=read.blocks,
        bytes=read.bytes,
        ended=read.ended,
        handed_over=read.handed_over,
        resizes=calls[Kind.RESIZE_TO],
        failed=calls[Kind.FAILED],
        usable_size_calls=calls[Kind.USABLE_SIZE],
        calls=+calls,
        by_thread=+Counter(dict(enumerate(read.threads))),
        sizes=_counts(read.sizes, EXACT_SIZES + 1),
        size_buckets=_counts(read.size_buckets, BUCKETS),
        byte_buckets=_counts(read.byte_buckets, BUCKETS),
        lifetimes=_counts(read.lifetimes, BUCKETS),
        sites={each.number: _site(each) for each in read.sites},
        live=read.live,
        peak=PeakSites(
            read.peak_bytes,
            sum(each.at_peak[0] for each in read.sites) if read.peak_bytes else 0,
            read.peak_time,
            {each.number: each.at_peak for each in read.sites},
            {each.number: (each.live_blocks, each.live_bytes) for each in read.sites},
        ),
        size_spread=Spread.counted(read.size_spread),
        lifetime_spread=Spread.counted(read.lifetime_spread),
        resized_from=read.resized_from,
        resized_to=read.resized_to,
        stacks={tuple(each[0]): StackBlocks(*each[1:]) for each in read.stacks},
        duration=read.duration,
    )


def _counts(read: Sequence[int], length: int) -> Numbers:
    found = np.zeros(length, np.uint64)
    found[: len(read)] = read
    return found


def _site(read: _Site) -> SiteContents:
    sums = {
        name: getattr(read, name)
        for name in read.__struct_fields__
        if name not in ("number", "at_peak", "lifetimes")
    }
    return SiteContents(**sums, lifetimes=_counts(read.lifetimes, BUCKETS))


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
