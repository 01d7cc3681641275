"""The page of a profile: the estimates of its samples, with intervals, and flame graphs."""

from __future__ import annotations

import numpy as np

from heapwise.document import Notice
from heapwise.report.allocation_parts import (
    MEASURES,
    MOST_SITES,
    AllocationPage,
    bars,
    call_tree,
    live_figure,
)
from heapwise.study.recording.profile_tables import profile_entries, profile_tables
from heapwise.study.recording.tell import command_of
from heapwise.trace import Trace
from heapwise.trace.contents import BUCKETS, POINTS, power_buckets
from heapwise.trace.names.symbols import Symbols
from heapwise.trace.names.wrappers import Wrappers
from heapwise.trace.profile import Samples
from heapwise.trace.sampled_stacks import SampledStacks
from heapwise.wording.numbers import significant, size

NOTE = (
    "The width of a box is the estimated share of what was allocated below it. A box of few "
    "samples may be far off."
)


def profile_page(trace: Trace, stacks: SampledStacks, symbols: Symbols, wrappers: Wrappers) -> str:
    """One file that loads nothing from the network."""
    found = stacks.samples
    sites = stacks.by_site(symbols, wrappers) if len(found) else []
    blocks, asked = significant(round(found.blocks().value)), size(found.bytes().value)
    return AllocationPage(
        title=f"profile of {command_of(trace)}",
        what="profile",
        answer=f"About {blocks} blocks, {asked} asked for",
        note=NOTE,
        measures=MEASURES,
        above=[
            Notice(command_of(trace)),
            *profile_entries(trace, found),
            *live_figure(trace, _live(stacks)),
        ],
        tables=[
            *profile_tables(trace, found, sites, MOST_SITES),
            *bars(trace, _weights(found, found.size), _lifetimes(found)),
        ],
        tree=call_tree(stacks.call_stacks(symbols)),
    ).render()


def _weights(found: Samples, values: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> list[float]:
    """Estimated blocks in each bucket of powers of two."""
    weights: list[float] = np.bincount(power_buckets(values), 1 / found.chance, BUCKETS).tolist()
    return weights


def _lifetimes(found: Samples) -> list[float]:
    ended = found.only(found.ended)
    return _weights(ended, ended.lifetime.astype(np.uint64))


def _live(stacks: SampledStacks) -> list[tuple[int, int]]:
    """The curve, at no more than POINTS points: the highest of each stretch."""
    curve = stacks.curve()
    stretch = len(curve) // POINTS + 1
    return [
        (time, round(live))
        for time, live in (
            max(curve[at : at + stretch], key=lambda point: point[1])
            for at in range(0, len(curve), stretch)
        )
    ]
