"""The call stacks of a trace with the blocks and bytes that each stands for.

A trace holds the caller of every allocation and the full stack of few. So the blocks of a call site
are exact, and they are shared out over the stacks that were seen of it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from heapwise.trace.contents import Contents, SiteContents, StackBlocks
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
        counts, weights = _weights(
            [found.stacks.get(stack, StackBlocks()) for stack in known], site
        )
        peak_blocks, peak_bytes = found.peak.at_peak(number)
        end_blocks, end_bytes = found.peak.at_end(number)
        columns = [
            shared_out(total, by)
            for total, by in (
                (site.count, counts),
                (site.bytes, weights),
                (peak_blocks, counts),
                (peak_bytes, weights),
                (end_blocks, counts),
                (end_bytes, weights),
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


def _weights(stacks: list[StackBlocks], site: SiteContents) -> tuple[list[int], list[int]]:
    """What the stacks of a call site count, in blocks and in bytes, in steps of one part of FINE.

    Large blocks count as they are, and the other blocks of the site are shared out over the samples
    of such. A trace of a version that kept few stacks of large blocks has only samples.
    """
    if sum(stack.large_count for stack in stacks) == site.large_count:
        large_counts = [stack.large_count for stack in stacks]
        large_bytes = [stack.large_bytes for stack in stacks]
        small_counts = [stack.small_count for stack in stacks]
        small_bytes = [stack.small_bytes for stack in stacks]
        first_is_sample = stacks[0].begins_small
    else:
        large_counts = large_bytes = [0] * len(stacks)
        small_counts = [stack.small_count + stack.large_count for stack in stacks]
        small_bytes = [stack.small_bytes + stack.large_bytes for stack in stacks]
        first_is_sample = True
    shares = _shares(small_counts, site.count - sum(large_counts), first_is_sample)
    means = [
        share * bytes_ / count if count else 0.0
        for share, count, bytes_ in zip(shares, small_counts, small_bytes, strict=True)
    ]
    fit = (site.bytes - sum(large_bytes)) / sum(means) if sum(means) else 0.0
    return (
        [round(FINE * (a + b)) for a, b in zip(large_counts, shares, strict=True)],
        [round(FINE * (a + b * fit)) for a, b in zip(large_bytes, means, strict=True)],
    )


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
