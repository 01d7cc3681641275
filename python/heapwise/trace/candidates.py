"""Call sites whose blocks could come from a pool or an arena, by what the trace says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from heapwise.trace.columns import Kind
from heapwise.trace.contents import Contents
from heapwise.trace.ends_order import EndsOrder
from heapwise.trace.file import Trace
from heapwise.trace.live_table import trace_steps
from heapwise.trace.looks import looks
from heapwise.trace.phases import Phases, grouped

LEAST_SHARE = 0.02
"""The share of all blocks: a site with fewer cannot gain what an interval would show."""

LEAST_BLOCKS = 1000
MOST_CANDIDATES = 8
"""As many as the experiment trace/advice has subjects for."""

MOST_SIZED_BYTES = 512
"""The largest block of pools for size classes; see bench/player/script.hpp."""

TOGETHER = "together, before more are made"

Policy = Literal["unsynchronized", "thread_cached", "sized", "arena"]


@dataclass(frozen=True)
class SiteCandidate:
    """Sites that share a pool or an arena, their largest block in bytes, how many blocks they
    made, and what they share. ``sized``: a pool for each size class. looks: see ``looks``."""

    sites: tuple[int, ...]
    block_size: int
    blocks: int
    policy: Policy
    looks: str = ""


@dataclass(frozen=True)
class RefusedSite:
    """A site with many blocks that can have neither a pool nor an arena, and why, in words."""

    site: int
    blocks: int
    reason: str


def find_candidates(trace: Trace, found: Contents) -> tuple[list[SiteCandidate], list[RefusedSite]]:
    """The candidates with most blocks first, and the other sites that have as many."""
    large = {
        number: site
        for number, site in found.sites.items()
        if site.count >= max(LEAST_BLOCKS, LEAST_SHARE * found.blocks)
    }
    use = _use_of(trace, set(large))
    candidates, refused = [], []
    suitable: dict[int, Phases] = {}
    for number, site in sorted(large.items(), key=lambda item: -item[1].count):
        mine = use[number]
        if reason := _obstacle(mine, site.largest):
            refused.append(RefusedSite(number, site.count, reason))
            continue
        if fits := len(mine.threads) == 1 and mine.phases.fits_an_arena:
            suitable[number] = mine.phases
        policy = _pool_for(mine, site.smallest, site.largest)
        # Pools for size classes would do what an arena does better.
        if policy and not (fits and policy == "sized"):
            candidates.append(
                SiteCandidate(
                    (number,),
                    site.largest,
                    site.count,
                    policy,
                    looks([site], TOGETHER if fits else mine.order.words, trace.ns_a_unit),
                )
            )
        elif not fits:
            refused.append(
                RefusedSite(
                    number,
                    site.count,
                    "its blocks have many sizes, "
                    f"{site.smallest:,} to {site.largest:,} bytes, and do not end "
                    "together",
                )
            )
    for group in _arena_groups(trace, suitable):
        candidates.append(
            SiteCandidate(
                tuple(group),
                max(large[n].largest for n in group),
                sum(large[n].count for n in group),
                "arena",
                looks([large[n] for n in group], TOGETHER, trace.ns_a_unit),
            )
        )
    candidates.sort(key=lambda each: -each.blocks)
    return candidates[:MOST_CANDIDATES], refused


@dataclass
class SiteUse:
    """What beside sizes decides. threads: those that make or end its blocks."""

    phases: Phases
    order: EndsOrder = field(default_factory=EndsOrder)
    threads: set[int] = field(default_factory=set)
    resized: bool = False
    zeroed: bool = False
    aligned: bool = False


def _obstacle(use: SiteUse, largest: int) -> str:
    if use.resized:
        return "its blocks are resized"
    if largest == 0:
        return "its blocks have no bytes"
    if use.aligned:
        return "its blocks have an alignment of their own"
    if use.zeroed:
        return "its blocks are zeroed by calloc, which a pool does not do"
    return ""


def _pool_for(use: SiteUse, smallest: int, largest: int) -> Policy | None:
    alone = len(use.threads) == 1
    if smallest == largest:
        return "unsynchronized" if alone else "thread_cached"
    return "sized" if alone and largest <= MOST_SIZED_BYTES else None


def _arena_groups(trace: Trace, suitable: dict[int, Phases]) -> list[list[int]]:
    """Groups of sites that fit one arena together; a site that spoils its group is alone."""
    groups = grouped(suitable)
    together = [Phases(group) for group in groups if len(group) > 1]
    if together:
        _read_phases(trace, together)
    fitting = [list(each.sites) for each in together if each.fits_an_arena]
    inside = {site for group in fitting for site in group}
    return fitting + [[site] for site in suitable if site not in inside]


def _read_phases(trace: Trace, all_phases: list[Phases]) -> None:
    for events, ended, live in trace_steps(trace):
        for phases in all_phases:
            if live is not None:
                phases.begin_window(live)
            phases.take(events, ended)


def _use_of(trace: Trace, sites: set[int]) -> dict[int, SiteUse]:
    found = {number: SiteUse(Phases({number})) for number in sites}
    for events, ended, live in trace_steps(trace):
        births = np.flatnonzero(events.makes)
        for number, use in found.items():
            mine = births[events.site[births] == number]
            kinds = set(np.unique(events.kind[mine]).tolist())
            deaths = ended.row[ended.site == number]
            ends = set(np.unique(events.kind[deaths]).tolist())
            use.resized |= Kind.RESIZE_FROM in ends or Kind.RESIZE_TO in kinds
            use.zeroed |= Kind.CALLOC in kinds
            use.aligned |= bool((events.alignment[mine] > 4).any())
            use.threads |= set(np.unique(events.thread[mine]).tolist())
            use.threads |= set(np.unique(events.thread[deaths]).tolist())
            if live is not None:
                use.phases.begin_window(live)
            use.phases.take(events, ended)
            use.order.take(events, mine, deaths)
    return found
