"""Collapsed stacks, a line each, as flamegraph.pl and inferno read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from heapwise.trace.file import Trace
from heapwise.trace.names.call_stacks import CallStack


def folded(trace: Trace, stacks: list[CallStack]) -> bytes:
    """Weighted by the bytes that were asked for."""
    return _lines(stacks, lambda stack: stack.bytes)


def folded_calls(trace: Trace, stacks: list[CallStack]) -> bytes:
    """Weighted by the blocks that were made."""
    return _lines(stacks, lambda stack: stack.blocks)


def folded_peak(trace: Trace, stacks: list[CallStack]) -> bytes:
    """Weighted by the bytes that lived at the peak."""
    return _lines(stacks, lambda stack: stack.peak_bytes)


def folded_end(trace: Trace, stacks: list[CallStack]) -> bytes:
    """Weighted by the bytes that nobody freed."""
    return _lines(stacks, lambda stack: stack.end_bytes)


def _lines(stacks: list[CallStack], weight: Callable[[CallStack], int]) -> bytes:
    sums: Counter[str] = Counter()
    for stack in stacks:
        # A semicolon separates frames, so it cannot be in a name.
        names = [place.name.replace(";", ":") for place in stack.places] or ["unknown"]
        sums[";".join(names)] += weight(stack)
    return "".join(f"{names} {sum_}\n" for names, sum_ in sums.items() if sum_).encode(
        errors="replace"
    )
