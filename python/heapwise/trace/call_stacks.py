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
from heapwise.trace.symbols import Place, Symbols


@dataclass(frozen=True)
class CallStack:
    """places: the outermost caller first. blocks, bytes: sum to those of the trace."""

    places: tuple[Place, ...]
    blocks: int
    bytes: int


def call_stacks(trace: Trace, found: Contents, symbols: Symbols) -> list[CallStack]:
    """Most bytes first. A site without a stack is a stack of one place."""
    by_caller: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for stack in found.stacks:
        if stack:
            by_caller[stack[0]].append(stack)
    symbols.learn(address for stack in found.stacks for address in stack)
    stacks: list[CallStack] = []
    for number, site in found.sites.items():
        address = trace.site_address(number)
        known = by_caller.get(address, [(address,)]) if address is not None else [()]
        blocks = shared_out(site.count, [found.stacks[stack] for stack in known])
        bytes_ = shared_out(site.bytes, [found.stack_bytes[stack] for stack in known])
        stacks += [CallStack(tuple(symbols.place(address) for address in reversed(stack)),
                             blocks_of_it, bytes_of_it)
                   for stack, blocks_of_it, bytes_of_it in zip(known, blocks, bytes_, strict=True)]
    return sorted(stacks, key=lambda stack: (-stack.bytes, -stack.blocks))


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
