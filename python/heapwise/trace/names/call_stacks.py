"""The call stacks of a trace with the blocks and bytes that each stands for.

A trace holds the caller of every allocation and the full stack of few. So the blocks of a call site
are exact, and they are shared out over the stacks that were seen of it: what lived at the peak,
over the stacks of blocks that lived then.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from heapwise.trace.contents import Contents, Sampled, StackBlocks
from heapwise.trace.file import Trace
from heapwise.trace.names.symbols import Place, Symbols

FINE = 1 << 20
"""Weights are whole numbers, so that shares are exact: steps of one sample."""


@dataclass(frozen=True)
class CallStack:
    """places: the outermost caller first. Each sum is that of the trace.

    site: the number of the call site. blocks, bytes: all that were made. peak_blocks, peak_bytes:
    those that lived when most bytes lived. end_blocks, end_bytes: those that nobody freed.
    most_blocks, most_bytes: when most of this call site lived. lifetime: of all blocks together, in
    units of the trace.
    """

    places: tuple[Place, ...]
    blocks: int
    bytes: int
    peak_blocks: int = 0
    peak_bytes: int = 0
    end_blocks: int = 0
    end_bytes: int = 0
    site: int = 0
    most_blocks: int = 0
    most_bytes: int = 0
    lifetime: int = 0


def call_stacks(trace: Trace, found: Contents, symbols: Symbols) -> list[CallStack]:
    """Most bytes first. A site without a stack is a stack of one place."""
    by_caller: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for stack in found.stacks:
        if stack:
            by_caller[stack[0]].append(stack)
    symbols.learn(address for stack in found.stacks for address in stack)
    symbols.learn(
        address for number in found.sites if (address := trace.site_address(number)) is not None
    )
    stacks: list[CallStack] = []
    for number, site in found.sites.items():
        address = trace.site_address(number)
        known = by_caller.get(address, [(address,)]) if address is not None else [()]
        blocks = [found.stacks.get(stack, StackBlocks()) for stack in known]
        every = [stack.every for stack in blocks]
        keeps_large = sum(each.large_count for each in every) == site.large_count
        counts, weights = _weights(every, every, site.count, site.bytes, keeps_large)
        peak, end = found.peak.at_peak(number), found.peak.at_end(number)
        at_peak = _weights([stack.at_peak for stack in blocks], every, *peak, keeps_large)
        at_end = _weights([stack.at_end for stack in blocks], every, *end, keeps_large)
        columns = [
            shared_out(total, by)
            for total, by in (
                (site.count, counts),
                (site.bytes, weights),
                *zip(peak, at_peak, strict=True),
                *zip(end, at_end, strict=True),
                (site.peak_blocks, counts),
                (site.peak_bytes, weights),
                (site.lifetime_sum, counts),
            )
        ]
        columns.insert(6, [number] * len(known))
        stacks += [
            CallStack(stack_places(stack, symbols), *row)
            for stack, *row in zip(known, *columns, strict=True)
        ]
    return sorted(stacks, key=lambda stack: (-stack.bytes, -stack.blocks))


def _weights(
    sampled: list[Sampled], every: list[Sampled], blocks: int, bytes_: int, keeps_large: bool
) -> tuple[list[int], list[int]]:
    """What the stacks of a call site count, in blocks and in bytes, in steps of one part of FINE.

    Large blocks count as they are, and the other blocks are shared out over the samples of such. If
    none of these was sampled, they are shared out as all that were made. A trace of a version that
    kept few stacks of large blocks has only samples.

    blocks, bytes_: all of these blocks of the site, sampled or not. every: the samples of all
    blocks, whenever they lived.
    """
    large_counts = [each.large_count if keeps_large else 0 for each in sampled]
    large_bytes = [each.large_bytes if keeps_large else 0 for each in sampled]
    rest, rest_bytes = blocks - sum(large_counts), bytes_ - sum(large_bytes)
    samples = _small(sampled, keeps_large)
    first = sampled[0].has_first or not keeps_large
    known = sum(count for count, _ in samples)
    if sampled is not every and rest > known and known - first < 1:
        samples, first = _small(every, keeps_large), every[0].has_first or not keeps_large
    shares = _shares([count for count, _ in samples], rest, first)
    means = [
        share * size / count if count else 0.0
        for share, (count, size) in zip(shares, samples, strict=True)
    ]
    fit = rest_bytes / sum(means) if sum(means) else 0.0
    return (
        [round(FINE * (a + b)) for a, b in zip(large_counts, shares, strict=True)],
        [round(FINE * (a + b * fit)) for a, b in zip(large_bytes, means, strict=True)],
    )


def _small(sampled: list[Sampled], keeps_large: bool) -> list[tuple[int, int]]:
    """Samples of each stack and their bytes: of the smaller blocks, or of all if the trace has not
    each stack of a large one."""
    if keeps_large:
        return [(each.small_count, each.small_bytes) for each in sampled]
    return [
        (each.small_count + each.large_count, each.small_bytes + each.large_bytes)
        for each in sampled
    ]


def _shares(samples: list[int], blocks: int, first_stands_for_one: bool) -> list[float]:
    """How many of a call site's blocks the samples of each stack stand for.

    The stack of a site's first block is always kept, so that sample stands for one block. Each
    other stands for as many as there are to one: else the first would weigh too much.
    """
    count = sum(samples)
    if count < 2 or not first_stands_for_one:
        return [blocks * sample / max(1, count) for sample in samples]
    each = max(1.0, (blocks - 1) / (count - 1))
    shares = [sample * each for sample in samples]
    shares[0] -= each - 1
    return shares


def stack_places(stack: tuple[int, ...], symbols: Symbols) -> tuple[Place, ...]:
    """The places of return addresses, the caller first: with inlined functions, the outermost
    caller first."""
    return tuple(
        place for address in reversed(stack) for place in reversed(symbols.frames(address))
    )


def shared_out(total: int, weights: list[int]) -> list[int]:
    """Whole numbers in proportion to the weights, whose sum is the total."""
    whole = sum(weights)
    if whole == 0:
        weights, whole = [1] * len(weights), len(weights)
    ends, passed = [0], 0
    for weight in weights:
        passed += weight
        ends.append(total * passed // whole)
    return [end - start for start, end in pairwise(ends)]
