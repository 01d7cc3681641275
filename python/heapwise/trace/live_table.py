"""The blocks that live while a trace is read, by number: memory for the live ones only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from heapwise.trace.columns import Events, LiveBlocks, Numbers
from heapwise.trace.file import FrameKind, Trace


class LiveTable:
    """Blocks in the order of their numbers, so that each is found by a binary search.

    Columns of equal length: block, time (of its making), size, site, thread. Ended blocks stay,
    marked, until half of all are ended.
    """

    def __init__(self) -> None:
        self._block = np.zeros(0, np.uint64)
        self._columns = {
            name: np.zeros(0, np.uint64) for name in ("time", "size", "site", "thread")
        }
        self._alive = np.zeros(0, bool)

    def __len__(self) -> int:
        return int(self._alive.sum())

    def begin_window(self, live: LiveBlocks, time: int) -> None:
        """Only these live now. When they were made is not known: ``time`` stands for it."""
        self._block = live.block
        self._columns = {
            "time": np.full(len(live.block), time, np.uint64),
            "size": live.size,
            "site": live.site,
            "thread": live.thread,
        }
        self._alive = np.ones(len(live.block), bool)

    def take(self, events: Events) -> Ended:
        """Puts the blocks that ``events`` makes into the table and takes out those that it ends."""
        makes, ends = np.flatnonzero(events.makes), np.flatnonzero(events.ends)
        self._add(events, makes)
        wanted = events.block[ends]
        places = self._places(wanted, len(makes))
        inside = places < len(self._block)
        found = np.zeros(len(ends), bool)
        found[inside] = (self._block[places[inside]] == wanted[inside]) & (
            self._alive[places[inside]]
        )
        places = places[found]
        self._alive[places] = False
        ended = Ended(
            ends[found], **{name: column[places] for name, column in self._columns.items()}
        )
        if len(self._alive) > 2 * max(1, int(self._alive.sum())):
            self._compact()
        return ended

    def _places(self, wanted: Numbers, newest: int) -> NDArray[np.intp]:
        """Where these blocks are, if they are in the table. Its last ``newest`` blocks have numbers
        in a row, and most blocks that end are among them."""
        before = len(self._block) - newest
        places: NDArray[np.intp] = np.zeros(len(wanted), np.intp)
        steps = wanted - self._block[before] if newest else wanted
        places += before + steps.astype(np.intp)
        older = np.flatnonzero(steps >= newest)  # also of smaller numbers: these have no sign
        places[older] = np.searchsorted(self._block, wanted[older])
        return places

    def alive(self) -> Numbers:
        """The numbers of the blocks that live."""
        return self._block[self._alive]

    def _add(self, events: Events, makes: NDArray[np.intp]) -> None:
        added = {
            "time": events.time,
            "size": events.size,
            "site": events.site,
            "thread": events.thread,
        }
        self._block = np.concatenate([self._block, events.block[makes]])
        self._columns = {
            name: np.concatenate([column, added[name][makes]])
            for name, column in self._columns.items()
        }
        self._alive = np.concatenate([self._alive, np.ones(len(makes), bool)])

    def _compact(self) -> None:
        self._block = self._block[self._alive]
        self._columns = {name: column[self._alive] for name, column in self._columns.items()}
        self._alive = np.ones(len(self._block), bool)


class Ended:
    """The blocks that a frame ends, of those that are known.

    row: their events in the frame. time, size, site, thread: of their making.
    """

    def __init__(
        self, row: NDArray[np.intp], time: Numbers, size: Numbers, site: Numbers, thread: Numbers
    ) -> None:
        self.row, self.time, self.size, self.site, self.thread = row, time, size, site, thread


def trace_steps(trace: Trace) -> Iterator[tuple[Events, Ended, LiveBlocks | None]]:
    """Each frame of events with the blocks that it ends. The third is what lives where a window
    begins, with the first frame of the window."""
    table = LiveTable()
    windows = {frame.window: frame for frame in trace.frames if frame.kind is FrameKind.LIVE}
    frames = [frame for frame in trace.frames if frame.kind is FrameKind.EVENTS]
    for frame, events in zip(frames, trace.events(), strict=False):
        live = None
        if start := windows.pop(frame.window, None):
            live = trace.live_of(start)
            table.begin_window(live, frame.first_time)
        yield events, table.take(events), live
