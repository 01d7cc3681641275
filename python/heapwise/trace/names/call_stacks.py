"""The call stacks of a trace with the blocks and bytes that each stands for.

A trace holds the caller of every allocation and the full stack of few. So the blocks of a call site
are exact, and they are shared out over the stacks that were seen of it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from heapwise.trace.contents import Contents
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
            [found.stacks[stack] for stack in known],
            [found.stack_bytes[stack] for stack in known],
            site.count,
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


def _weights(counts: list[int], bytes_: list[int], blocks: int) -> tuple[list[int], list[int]]:
    """What the samples of a call site's stacks count, in blocks and in bytes.

    The stack of the first block is always kept, so that sample stands for one block. Each other
    sample stands for as many as there are to one: else the first would weigh too much.
    """
    samples = sum(counts)
    if samples < 2:
        return counts, bytes_
    each = max(1.0, (blocks - 1) / (samples - 1))
    shares = [count * each for count in counts]
    shares[0] -= each - 1
    return (
        [round(FINE * share) for share in shares],
        [
            round(FINE * size * share / count)
            for size, share, count in zip(bytes_, shares, counts, strict=True)
        ],
    )


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
