"""Call sites whose blocks could come from a pool, by what the trace says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from heapwise.trace.columns import Kind
from heapwise.trace.contents import Contents
from heapwise.trace.file import FrameKind, Trace
from heapwise.trace.live_table import LiveTable

LEAST_SHARE = 0.02
"""Of all blocks: a site with fewer cannot gain what an interval would show."""

LEAST_BLOCKS = 1000
MOST_CANDIDATES = 5
"""As many as the experiment trace/advice has subjects for."""

Policy = Literal["unsynchronized", "thread_cached"]


@dataclass(frozen=True)
class Candidate:
    """A site, its block size in bytes, how many blocks it made, and the policy its pool needs."""

    site: int
    block_size: int
    blocks: int
    policy: Policy


@dataclass(frozen=True)
class Refused:
    """A site with many blocks that cannot have a pool, and why, in words."""

    site: int
    blocks: int
    reason: str


def find_candidates(trace: Trace, found: Contents) -> tuple[list[Candidate], list[Refused]]:
    """The candidates with most blocks first, and the other sites that have as many."""
    large = {number: site for number, site in found.sites.items()
             if site.count >= max(LEAST_BLOCKS, LEAST_SHARE * found.blocks)}
    use = _use_of(trace, set(large))
    candidates, refused = [], []
    for number, site in sorted(large.items(), key=lambda item: -item[1].count):
        reason = _obstacle(use[number], site.smallest, site.largest)
        if reason:
            refused.append(Refused(number, site.count, reason))
            continue
        alone = use[number].threads == 1
        candidates.append(Candidate(number, site.largest, site.count,
                                    "unsynchronized" if alone else "thread_cached"))
    return candidates[:MOST_CANDIDATES], refused


@dataclass
class SiteUse:
    """What beside sizes decides. threads: how many make or end its blocks."""

    threads: int = 0
    resized: bool = False
    made_by_resize: bool = False
    zeroed: bool = False
    aligned: bool = False
    array: bool = False


def _obstacle(use: SiteUse, smallest: int, largest: int) -> str:
    if use.resized or use.made_by_resize:
        return "its blocks are resized"
    if smallest != largest:
        return f"its blocks have many sizes, {smallest:,} to {largest:,} bytes"
    if largest == 0:
        return "its blocks have no bytes"
    if use.aligned:
        return "its blocks have an alignment of their own"
    if use.zeroed:
        return "its blocks are zeroed by calloc, which a pool does not do"
    return ""


def _use_of(trace: Trace, sites: set[int]) -> dict[int, SiteUse]:
    found = {number: SiteUse() for number in sites}
    threads: dict[int, set[int]] = {number: set() for number in sites}
    table = LiveTable()
    windows = {frame.window: frame for frame in trace.frames if frame.kind is FrameKind.LIVE}
    frames = [frame for frame in trace.frames if frame.kind is FrameKind.EVENTS]
    for frame, events in zip(frames, trace.events(), strict=False):
        if start := windows.pop(frame.window, None):
            table.begin_window(trace.live_of(start), frame.first_time)
        ended = table.take(events)
        made = np.flatnonzero(events.makes)
        for number in sites:
            mine = made[events.site[made] == number]
            kinds = set(np.unique(events.kind[mine]).tolist())
            gone = ended.row[ended.site == number]
            ends = set(np.unique(events.kind[gone]).tolist())
            use = found[number]
            use.resized |= Kind.RESIZE_FROM in ends
            use.made_by_resize |= Kind.RESIZE_TO in kinds
            use.zeroed |= Kind.CALLOC in kinds
            use.aligned |= bool((events.alignment[mine] > 4).any())
            threads[number] |= set(np.unique(events.thread[mine]).tolist())
            threads[number] |= set(np.unique(events.thread[gone]).tolist())
    for number, use in found.items():
        use.threads = len(threads[number])
    return found
