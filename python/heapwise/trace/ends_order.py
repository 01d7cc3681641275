"""In which order the blocks of a call site end: what a pool or an arena of them may rely on."""

from __future__ import annotations

import numpy as np

from heapwise.trace.columns import Events, Numbers

MOST = 0.9
"""The share of the ends: an order that as many follow is that of the call site."""


class EndsOrder:
    """Follows the blocks of one call site through a trace. An end is judged by the event before it
    and by the ends before it in its frame; so the first end of a frame is not."""

    def __init__(self) -> None:
        self._judged = self._newest = self._oldest = 0

    def take(self, events: Events, births: Numbers, deaths: Numbers) -> None:
        """One frame: rows of the events that make and that end blocks of the call site."""
        rows = np.concatenate([births, deaths])
        order = np.argsort(rows, kind="stable")
        block = events.block[rows[order]].astype(np.int64)
        is_end = order >= len(births)
        ends = np.flatnonzero(is_end)
        if len(ends) < 2:
            return
        # After a block that was made, that block ends; after one that ended, an older one.
        before = ends[ends > 0] - 1
        newest = np.where(
            is_end[before], block[before + 1] < block[before], block[before + 1] == block[before]
        )
        ended = block[ends]
        self._judged += len(ends) - 1
        self._newest += int(newest[len(newest) - len(ends) + 1 :].sum())
        self._oldest += int((ended[1:] > np.maximum.accumulate(ended)[:-1]).sum())

    @property
    def words(self) -> str:
        """As of blocks that end, or "" if there is no end to judge."""
        if not self._judged:
            return ""
        newest, oldest = (each >= MOST * self._judged for each in (self._newest, self._oldest))
        if newest and oldest:
            return "one before the next is made"
        if newest:
            return "the newest first"
        return "the oldest first" if oldest else "in any order"
