"""The content of a frame: columns of numbers, stored by the significance of their bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMNS = 7
KIND, THREAD, TIME, NUMBER, MORE, SITE, ALIGNMENT = range(COLUMNS)
VERSION_OF_JOINT_COLUMN = 2
"""Before this version of the file, the size of a block that is made was in the column MORE."""

Numbers = NDArray[np.uint64]
Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


class Kind(IntEnum):
    """The calls that a trace tells apart; see bench/trace/event.hpp."""

    MALLOC = 1
    CALLOC = 2
    ALIGNED = 3
    SCALAR_NEW = 4
    ARRAY_NEW = 5
    RESIZE_FROM = 6
    RESIZE_TO = 7
    FREE = 8
    SCALAR_DELETE = 9
    ARRAY_DELETE = 10
    USABLE_SIZE = 11
    FAILED = 12
    THREAD_BEGIN = 13
    THREAD_END = 14
    PAUSE = 15
    NEW_IMAGE = 17
    RESUMED = 18


MAKES = np.zeros(256, dtype=bool)
MAKES[[Kind.MALLOC, Kind.CALLOC, Kind.ALIGNED, Kind.SCALAR_NEW, Kind.ARRAY_NEW,
       Kind.RESIZE_TO]] = True
ENDS = np.zeros(256, dtype=bool)
ENDS[[Kind.RESIZE_FROM, Kind.FREE, Kind.SCALAR_DELETE, Kind.ARRAY_DELETE]] = True
OTHERS = ~(MAKES | ENDS)


class Damaged(ValueError):
    """The bytes are not what a frame holds."""


@dataclass(frozen=True)
class Stack:
    """The return addresses of one allocation, the caller first. row: in its frame."""

    row: int
    addresses: tuple[int, ...]


@dataclass(frozen=True)
class Events:
    """Arrays of one length, a place for each event of a frame, in the order of time.

    kind: values of Kind. thread: numbers from 0. time: in units of the trace since its start.
    block: the number of the block that the event makes or ends; of other events 0. size: bytes as
    asked for; of an end the resident pages, if they were counted. site: index of Trace.sites.
    alignment: its binary logarithm, 0 for the default of malloc. first_event: events of the
    recording before these.
    """

    kind: NDArray[np.uint8]
    thread: Numbers
    time: Numbers
    block: Numbers
    size: Numbers
    site: Numbers
    alignment: NDArray[np.uint8]
    stacks: tuple[Stack, ...]
    window: int
    first_event: int
    first_block: int

    @property
    def makes(self) -> NDArray[np.bool_]:
        """Where a block begins its life."""
        return MAKES[self.kind]

    @property
    def ends(self) -> NDArray[np.bool_]:
        """Where a block ends its life."""
        return ENDS[self.kind]


@dataclass(frozen=True)
class LiveBlocks:
    """The blocks that live where a window begins, oldest first."""

    block: Numbers
    thread: Numbers
    size: Numbers
    site: Numbers
    alignment: NDArray[np.uint8]


def read_columns(raw: bytes, count: int) -> tuple[list[Any], int]:
    """All columns of ``count`` numbers each, and how many bytes they took. Raises Damaged.

    Kinds and alignments are bytes as long as they fit.
    """
    found: list[Any] = []
    at = 0
    for column in range(COLUMNS):
        if at >= len(raw):
            raise Damaged("a column is missing")
        width = raw[at]
        at += 1
        if width > 8 or at + width * count > len(raw):
            raise Damaged("a column is cut off")
        planes = np.frombuffer(raw, np.uint8, width * count, at).reshape(width, count)
        at += width * count
        is_byte = column in {KIND, ALIGNMENT} and width == 1
        found.append(planes[0] if is_byte else _joined(planes, count))
    return found, at


def _joined(planes: NDArray[np.uint8], count: int) -> Numbers:
    width = len(planes)
    if width == 0:
        return np.zeros(count, np.uint64)
    if width == 1:
        only: Numbers = planes[0].astype(np.uint64)
        return only
    # The narrowest type that fits: fewer bytes to go through than with 8 for each number.
    narrow = np.uint16 if width == 2 else np.uint32 if width <= 4 else np.uint64
    numbers: NDArray[Any] = planes[width - 1].astype(narrow)
    for byte in range(width - 2, -1, -1):
        numbers <<= narrow(8)
        numbers |= planes[byte]
    wide: Numbers = numbers.astype(np.uint64, copy=False)
    return wide


@dataclass(frozen=True)
class Extras:
    """What stands behind the columns: new sites, from number ``first_site``, and stacks."""

    first_site: int
    sites: tuple[int, ...]
    stacks: tuple[Stack, ...]


def read_extras(raw: bytes, at: int) -> Extras:
    """Raises Damaged."""
    try:
        first_site, sites = struct.unpack_from("<II", raw, at)
        at += 8
        addresses = struct.unpack_from(f"<{sites}Q", raw, at)
        at += 8 * sites
        (stack_count,) = struct.unpack_from("<I", raw, at)
        at += 4
        stacks = []
        for _ in range(stack_count):
            row, depth = struct.unpack_from("<II", raw, at)
            at += 8
            stacks.append(Stack(row, struct.unpack_from(f"<{depth}Q", raw, at)))
            at += 8 * depth
    except struct.error as error:
        raise Damaged("sites or stacks are cut off") from error
    return Extras(first_site, addresses, tuple(stacks))


def events_of(columns: list[Any], stacks: tuple[Stack, ...], *, window: int, first_event: int,
              first_time: int, first_block: int, version: int) -> Events:
    """Times and block numbers become absolute."""
    kind = columns[KIND].astype(np.uint8, copy=False)
    time = np.cumsum(columns[TIME])
    time += np.uint64(first_time)
    makes = MAKES.take(kind)
    age = columns[NUMBER]
    size = columns[MORE]
    if version >= VERSION_OF_JOINT_COLUMN:
        size = np.where(makes, age, size)
    # A block that begins here has the number that the count of made blocks has before it.
    block = np.cumsum(makes, dtype=np.uint64)
    block += np.uint64(first_block)
    block -= np.where(makes, np.uint64(1), age)
    others = OTHERS.take(kind)
    if others.any():
        block[others & ((age == 0) | (kind != Kind.USABLE_SIZE))] = 0
    return Events(kind, columns[THREAD], time, block, size, columns[SITE],
                  columns[ALIGNMENT].astype(np.uint8, copy=False), stacks, window, first_event,
                  first_block)


def live_of(columns: list[Any]) -> LiveBlocks:
    """Block numbers become absolute."""
    return LiveBlocks(np.cumsum(columns[NUMBER], dtype=np.uint64), columns[THREAD], columns[MORE],
                      columns[SITE], columns[ALIGNMENT].astype(np.uint8, copy=False))
