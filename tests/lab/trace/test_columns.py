"""Arrays of events are what the columns of a frame say, whatever the widths of these are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest

from heapwise.trace import Events, Kind, open_trace
from heapwise.trace.columns import COLUMNS, split_columns

Record = Callable[..., Path]

MAKES = {Kind.MALLOC, Kind.CALLOC, Kind.ALIGNED, Kind.SCALAR_NEW, Kind.ARRAY_NEW, Kind.RESIZE_TO}
ENDS = {Kind.RESIZE_FROM, Kind.FREE, Kind.SCALAR_DELETE, Kind.ARRAY_DELETE}
ARRAYS = ("kind", "thread", "time", "block", "size", "site", "alignment", "makes", "ends")
FIRST_TIME, FIRST_BLOCK = 1_000_003, 70_000


def stored(numbers: list[int], width: int) -> bytes:
    return bytes([width]) + b"".join(
        bytes(number >> 8 * byte & 255 for number in numbers) for byte in range(width)
    )


def by_the_book(columns: list[list[int]], version: int) -> Iterator[dict[str, int]]:
    """docs/trace-format.md, one event after the other."""
    time, next_block = FIRST_TIME, FIRST_BLOCK
    for kind, thread, step, number, more, site, alignment in zip(*columns, strict=True):
        time += step
        makes, ends = kind in MAKES, kind in ENDS
        block = next_block if makes else next_block - number
        if not makes and not ends and (kind != Kind.USABLE_SIZE or number == 0):
            block = 0
        next_block += makes
        yield {
            "kind": kind,
            "thread": thread,
            "time": time,
            "block": block,
            "size": number if makes and version > 1 else more,
            "site": site,
            "alignment": alignment,
            "makes": makes,
            "ends": ends,
        }


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_each_array_is_what_the_format_says(seed: int, version: int) -> None:
    random = Random(seed)
    count = random.choice([0, 1, 700])
    widths = [1, *(random.randrange(6) for _ in range(COLUMNS - 2)), random.randrange(2)]
    columns = [[random.randrange(256**width) for _ in range(count)] for width in widths]
    columns[0] = random.choices([0, *Kind, 255], k=count)
    columns[3] = [each % FIRST_BLOCK for each in columns[3]]
    raw = b"".join(stored(each, width) for each, width in zip(columns, widths, strict=True))
    split, end = split_columns(raw + b"more", count)
    assert end == len(raw)
    events = Events(
        split,
        (),
        window=0,
        first_event=0,
        first_time=FIRST_TIME,
        first_block=FIRST_BLOCK,
        version=version,
    )
    wanted = list(by_the_book(columns, version))
    for name in random.sample(ARRAYS, len(ARRAYS)):
        assert getattr(events, name).tolist() == [each[name] for each in wanted], name


def test_arrays_have_the_types_that_the_reader_promises(known: Path, record: Record) -> None:
    with open_trace(record(known, "mixed", "2000")) as opened:
        for events in opened.events():
            for name in ARRAYS:
                flags = bool if name in {"makes", "ends"} else None
                byte = np.uint8 if name in {"kind", "alignment"} else None
                assert getattr(events, name).dtype == (flags or byte or np.uint64), name


def test_an_array_is_made_when_it_is_asked_for_and_kept(known: Path, record: Record) -> None:
    with open_trace(record(known, "mixed", "2000")) as opened:
        few, usual = next(opened.events(ahead=("kind",))), next(opened.events())
    assert "kind" in vars(few)
    assert not {"time", "block", "size"} & vars(few).keys()
    assert {"time", "block", "size"} <= vars(usual).keys()
    assert np.array_equal(few.block, usual.block)
    assert few.block is few.block
