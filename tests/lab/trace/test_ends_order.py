"""In which order blocks end, and the words for it."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

import numpy as np
import pytest

from heapwise.trace.columns import COLUMNS, KIND, NUMBER, Events, Kind, StoredColumn
from heapwise.trace.contents import SiteContents
from heapwise.trace.ends_order import EndsOrder
from heapwise.trace.looks import looks


def events_of(take: Callable[[deque[int]], int], steps: int, living: int) -> Events:
    """Blocks begin until ``living`` live, and end until half of them do, by turns. ``take``
    removes one that ends."""
    live: deque[int] = deque()
    kinds, ages, blocks = [], [], 0
    for _ in range(steps):
        for _ in range(living - len(live) if len(live) <= living // 2 else 0):
            live.append(blocks)
            blocks += 1
            kinds.append(Kind.MALLOC)
            ages.append(0)
        kinds.append(Kind.FREE)
        ages.append(blocks - take(live))
    columns = [StoredColumn(np.zeros((0, len(kinds)), np.uint8)) for _ in range(COLUMNS)]
    columns[KIND] = StoredColumn(np.array([kinds], np.uint8))
    columns[NUMBER] = StoredColumn(np.array([ages], np.uint8))
    return Events(columns, (), window=0, first_event=0, first_time=0, first_block=0, version=2)


def any_of(live: deque[int]) -> int:
    live.rotate(random.Random(live[-1]).randrange(len(live)))
    return live.pop()


@pytest.mark.parametrize(
    ("take", "living", "words"),
    [
        (deque.pop, 20, "the newest first"),
        (deque.popleft, 20, "the oldest first"),
        (any_of, 20, "in any order"),
        (deque.pop, 1, "one before the next is made"),
    ],
)
def test_the_order_of_the_ends_is_found(
    take: Callable[[deque[int]], int], living: int, words: str
) -> None:
    events = events_of(take, 100, living)
    order = EndsOrder()
    order.take(events, np.flatnonzero(events.makes), np.flatnonzero(events.ends))
    assert order.words == words


def test_blocks_that_never_end_have_no_order() -> None:
    events = events_of(deque.pop, 1, 5)
    order = EndsOrder()
    order.take(events, np.flatnonzero(events.makes), np.flatnonzero(events.ends))
    assert order.words == ""


def test_blocks_are_described() -> None:
    lifetimes = np.zeros(65, np.uint64)
    lifetimes[8] = 1000
    one = SiteContents(
        count=1000,
        bytes=48_000,
        smallest=48,
        largest=48,
        ended=1000,
        own_thread=1000,
        lifetimes=lifetimes,
    )
    assert looks([one], "in any order", 10.0) == (
        "1,000 blocks of 48 B, 46.9 KiB in all; half of them live for less than 2.56 µs; they end "
        "in any order, 100 % on the thread that made them"
    )
    other = SiteContents(count=1, bytes=2000, smallest=2000, largest=2000)
    assert looks([one, other], "", 0.0) == "1,001 blocks of 48 B to 1.95 KiB, 48.8 KiB in all"
