"""When the blocks of some call sites have all ended: where an arena could be reset."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from heapwise.trace.columns import Events, Integers, LiveBlocks
from heapwise.trace.live_table import Ended

LEAST_PHASE_BLOCKS = 16
"""On average: an arena that is reset more often is a pool."""

MOST_WASTE = 2
"""An arena may hold this many times the bytes that live at most, and SPARE_BYTES more."""

SPARE_BYTES = 64 << 10
SAME_PHASES = 0.8
"""This share of the ends of one site's phases has one end of the other's between it and the next.
"""


@dataclass
class Phases:
    """A phase ends with the event after which no block of ``sites`` lives.

    ends: numbers of these events. blocks: made in all. largest_bytes: of the blocks that one phase
    makes. peak_bytes: living at once.
    """

    sites: Collection[int]
    blocks: int = 0
    largest_bytes: int = 0
    peak_bytes: int = 0
    ends: list[Integers] = field(default_factory=list)
    _live: int = 0
    _live_bytes: int = 0
    _phase_bytes: int = 0

    def begin_window(self, live: LiveBlocks) -> None:
        mine = np.isin(live.site, list(self.sites))
        self._live, self._live_bytes = int(mine.sum()), int(live.size[mine].sum())
        self._phase_bytes = self._live_bytes

    def take(self, events: Events, ended: Ended) -> None:
        """The events of one frame."""
        wanted = list(self.sites)
        births = np.flatnonzero(events.makes & np.isin(events.site, wanted))
        deaths = np.flatnonzero(np.isin(ended.site, wanted))
        if not len(births) + len(deaths):
            return
        rows = np.concatenate([births, ended.row[deaths]])
        order = np.argsort(rows, kind="stable")
        step = np.concatenate([np.ones(len(births), np.int64), -np.ones(len(deaths), np.int64)])[
            order
        ]
        size = np.concatenate([events.size[births], ended.size[deaths]]).astype(np.int64)[order]
        live = self._live + np.cumsum(step)
        live_bytes = self._live_bytes + np.cumsum(step * size)
        asked = self._phase_bytes + np.cumsum(np.where(step > 0, size, 0))
        stops = np.flatnonzero((live == 0) & (step < 0))
        sums = np.concatenate([[0], asked[stops]])
        in_phase = [*np.diff(sums).tolist(), int(asked[-1] - sums[-1])]
        self.blocks += len(births)
        self.largest_bytes = max(self.largest_bytes, *in_phase)
        self.peak_bytes = max(self.peak_bytes, int(live_bytes.max()))
        self.ends.append(rows[order][stops] + events.first_event)
        self._live, self._live_bytes = int(live[-1]), int(live_bytes[-1])
        self._phase_bytes = in_phase[-1]

    @property
    def end_places(self) -> Integers:
        return np.concatenate([np.zeros(0, np.int64), *self.ends])

    @property
    def count(self) -> int:
        """A last phase that does not end counts, too: the program ends it."""
        return sum(map(len, self.ends)) + (self._live > 0)

    @property
    def fits_an_arena(self) -> bool:
        return (
            self.blocks >= LEAST_PHASE_BLOCKS * max(1, self.count)
            and self.largest_bytes <= MOST_WASTE * self.peak_bytes + SPARE_BYTES
        )


def grouped(found: dict[int, Phases]) -> list[list[int]]:
    """Sites whose phases end together are in one group, the largest site first in each."""
    groups: list[list[int]] = []
    for site, phases in sorted(found.items(), key=lambda item: -item[1].blocks):
        ends = phases.end_places
        group = next(
            (group for group in groups if _end_together(found[group[0]].end_places, ends)), None
        )
        if group is None:
            groups.append([site])
        else:
            group.append(site)
    return groups


def _end_together(one: Integers, other: Integers) -> bool:
    if min(len(one), len(other)) == 0:
        return len(one) == len(other)
    if max(len(one), len(other)) * SAME_PHASES > min(len(one), len(other)):
        return False
    between = np.diff(np.searchsorted(other, one))
    return bool((between == 1).mean() >= SAME_PHASES) if len(between) else True
