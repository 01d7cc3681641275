"""The table of live blocks finds what a dictionary finds."""

from __future__ import annotations

import random

import numpy as np

from heapwise.trace.columns import COLUMNS, KIND, NUMBER, TIME, Events, Kind, StoredColumn
from heapwise.trace.live_table import LiveTable


def column(numbers: list[int]) -> StoredColumn:
    return StoredColumn(np.array(numbers, "<u4").view(np.uint8).reshape(-1, 4).T.copy())


def test_blocks_of_any_age_are_found() -> None:
    """Some frames make no block, and some ends are of blocks that ended in a frame before."""
    numbers = random.Random(1)
    table, live, blocks, time = LiveTable(), dict[int, tuple[int, int]](), 0, 0
    for _ in range(60):
        share, first = numbers.choice([0.0, 0.3, 0.5, 0.9]), blocks
        ended_before = sorted(set(range(blocks)) - set(live))
        kinds, ages, begun, wanted = [], [], time, []
        for row in range(numbers.randrange(1, 200)):
            time += 1
            if numbers.random() < share:
                kinds.append(Kind.MALLOC)
                ages.append(size := numbers.randrange(100))
                live[blocks] = time, size
                blocks += 1
            elif ended_before or live:
                block = numbers.choice(
                    list(live) if live and numbers.random() < 0.9 else ended_before or list(live)
                )
                kinds.append(Kind.FREE)
                ages.append(blocks - block)
                if block in live:
                    wanted.append((row, *live.pop(block)))
            else:
                kinds.append(Kind.THREAD_BEGIN)
                ages.append(0)
        columns = [StoredColumn(np.zeros((0, len(kinds)), np.uint8)) for _ in range(COLUMNS)]
        columns[KIND] = StoredColumn(np.array([kinds], np.uint8))
        columns[NUMBER], columns[TIME] = column(ages), column([1] * len(kinds))
        ended = table.take(
            Events(
                columns, (), window=0, first_event=0, first_time=begun, first_block=first, version=2
            )
        )
        assert (
            list(zip(ended.row.tolist(), ended.time.tolist(), ended.size.tolist(), strict=True))
            == wanted
        )
        assert len(table) == len(live)
        assert table.alive().tolist() == sorted(live)
