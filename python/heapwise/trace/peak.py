"""What lived when most bytes lived, and what lives at the end, by call site."""

from __future__ import annotations

import numpy as np

from heapwise.trace.columns import Events, Integers, LiveBlocks
from heapwise.trace.live_table import Ended


class PeakSites:
    """Follows the live blocks and bytes of every call site through a trace.

    bytes, blocks: of all sites at the peak. time: of the peak, in units of the trace.
    """

    def __init__(self) -> None:
        self.bytes, self.blocks, self.time = 0, 0, 0
        self._now = np.zeros((2, 0), np.int64)
        self._then = np.zeros((2, 0), np.int64)

    def begin_window(self, live: LiveBlocks) -> None:
        """Only these live now."""
        self._now = np.zeros((2, 0), np.int64)
        self._grow(live.site.astype(np.int64))
        np.add.at(self._now[0], live.site.astype(np.int64), 1)
        np.add.at(self._now[1], live.site.astype(np.int64), live.size.astype(np.int64))

    def take(self, events: Events, ended: Ended) -> None:
        """The events of one frame."""
        makes = np.flatnonzero(events.makes)
        rows = np.concatenate([makes, ended.row])
        if not len(rows):
            return
        order = np.argsort(rows, kind="stable")
        site = np.concatenate([events.site[makes], ended.site]).astype(np.int64)[order]
        step = np.ones(len(rows), np.int64)
        step[len(makes) :] = -1
        step = step[order]
        size = np.concatenate([events.size[makes], ended.size]).astype(np.int64)[order] * step
        self._grow(site)
        live = int(self._now[1].sum()) + np.cumsum(size)
        highest = int(np.argmax(live))
        if live[highest] > self.bytes:
            upto = highest + 1
            self._then = self._now.copy()
            np.add.at(self._then[0], site[:upto], step[:upto])
            np.add.at(self._then[1], site[:upto], size[:upto])
            self.bytes, self.blocks = int(live[highest]), int(self._then[0].sum())
            self.time = int(events.time[rows[order[highest]]])
        np.add.at(self._now[0], site, step)
        np.add.at(self._now[1], site, size)

    def at_peak(self, site: int) -> tuple[int, int]:
        """(blocks, bytes) of a call site when most bytes lived."""
        return _of(self._then, site)

    def at_end(self, site: int) -> tuple[int, int]:
        """(blocks, bytes) of a call site that nobody freed in the trace."""
        return _of(self._now, site)

    def _grow(self, site: Integers) -> None:
        more = int(site.max(initial=-1)) + 1 - self._now.shape[1]
        if more > 0:
            self._now = np.pad(self._now, ((0, 0), (0, more)))


def _of(numbers: Integers, site: int) -> tuple[int, int]:
    if site >= numbers.shape[1]:
        return 0, 0
    return int(numbers[0, site]), int(numbers[1, site])
