"""The content of a frame: columns of numbers, stored by the significance of their bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, TypeVar, overload

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
MAKES[[Kind.MALLOC, Kind.CALLOC, Kind.ALIGNED, Kind.SCALAR_NEW, Kind.ARRAY_NEW, Kind.RESIZE_TO]] = (
    True
)
ENDS = np.zeros(256, dtype=bool)
ENDS[[Kind.RESIZE_FROM, Kind.FREE, Kind.SCALAR_DELETE, Kind.ARRAY_DELETE]] = True


def _ranges(table: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first number of each run of kinds that are in it, and how many follow each other."""
    edges = np.flatnonzero(np.diff(table.astype(np.int8), prepend=0, append=0))
    return [(int(first), int(end - first)) for first, end in edges.reshape(-1, 2)]


MADE, ENDED = _ranges(MAKES), _ranges(ENDS)


class Damaged(ValueError):
    """The bytes are not what a frame holds."""


@dataclass(frozen=True)
class Stack:
    """The return addresses of one allocation, the caller first. row: in its frame."""

    row: int
    addresses: tuple[int, ...]


@dataclass(frozen=True)
class StoredColumn:
    """The numbers of a frame as they are stored: all lowest bytes, then all next higher ones."""

    planes: NDArray[np.uint8]

    @property
    def byte(self) -> NDArray[np.uint8]:
        """The lowest byte of each number."""
        width, count = self.planes.shape
        return self.planes[0] if width else np.zeros(count, np.uint8)

    @property
    def narrow(self) -> NDArray[Any]:
        """In the narrowest type that fits: fewer bytes to go through than with 8 for each."""
        width, _ = self.planes.shape
        if width <= 1:
            return self.byte
        type_ = np.uint16 if width == 2 else np.uint32 if width <= 4 else np.uint64
        numbers: NDArray[Any] = self.planes[width - 1].astype(type_)
        for byte in range(width - 2, -1, -1):
            numbers <<= type_(8)
            numbers |= self.planes[byte]
        return numbers

    @property
    def wide(self) -> Numbers:
        return self.narrow.astype(np.uint64, copy=False)


Decode = TypeVar("Decode")


class Decoded(Generic[Decode]):
    """An array of events that is made when it is first asked for, and then kept.

    Not functools.cached_property, which in Python 3.11 lets one thread decode at a time.
    """

    def __init__(self, decode: Callable[[Any], Decode]) -> None:
        self._decode, self.__doc__ = decode, decode.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, events: None, _: type) -> Decoded[Decode]: ...
    @overload
    def __get__(self, events: Events, _: type) -> Decode: ...
    def __get__(self, events: Events | None, _: type) -> Decoded[Decode] | Decode:
        if events is None:
            return self
        found = self._decode(events)
        events.__dict__[self._name] = found
        return found


class Events:
    """Arrays of one length, a place for each event of a frame, in the order of time.

    Each is decoded when it is first asked for. window: that they are in. first_event: events of
    the recording before these. first_block: the number of the first block that they make.
    """

    def __init__(
        self,
        columns: Sequence[StoredColumn],
        stacks: tuple[Stack, ...],
        *,
        window: int,
        first_event: int,
        first_time: int,
        first_block: int,
        version: int,
    ) -> None:
        self._columns, self._first_time, self._version = columns, first_time, version
        self.stacks, self.window = stacks, window
        self.first_event, self.first_block = first_event, first_block

    @Decoded
    def kind(self) -> NDArray[np.uint8]:
        """Values of Kind."""
        return self._columns[KIND].byte

    @Decoded
    def thread(self) -> Numbers:
        """Numbers from 0."""
        return self._columns[THREAD].wide

    @Decoded
    def time(self) -> Numbers:
        """In units of the trace since its start."""
        return _sums(self._columns[TIME].narrow, self._first_time)

    @Decoded
    def block(self) -> Numbers:
        """The number of the block that the event makes or ends; of other events 0."""
        # A block that begins here has the number that the count of made blocks has before it.
        block = _sums(self.makes, self.first_block)
        age = self._number
        # Products, not numpy.where, which jumps for each number.
        before = age * ~self.makes
        before |= self.makes
        block -= before.astype(np.uint64, copy=False)
        others = ~(self.makes | self.ends)
        if others.any():
            block[others & ((age == 0) | (self.kind != Kind.USABLE_SIZE))] = 0
        return block

    @Decoded
    def size(self) -> Numbers:
        """Bytes as asked for; of an end the resident pages, if they were counted."""
        more = self._columns[MORE]
        if self._version < VERSION_OF_JOINT_COLUMN:
            return more.wide
        found = (self._number * self.makes).astype(np.uint64, copy=False)
        if len(more.planes):
            found += more.narrow * ~self.makes
        return found

    @Decoded
    def site(self) -> Numbers:
        """For Trace.site_address."""
        return self._columns[SITE].wide

    @Decoded
    def alignment(self) -> NDArray[np.uint8]:
        """Its binary logarithm, 0 for the default of malloc."""
        return self._columns[ALIGNMENT].byte

    @Decoded
    def makes(self) -> NDArray[np.bool_]:
        """Where a block begins its life."""
        return _is_in(self.kind, MADE)

    @Decoded
    def ends(self) -> NDArray[np.bool_]:
        """Where a block ends its life."""
        return _is_in(self.kind, ENDED)

    @Decoded
    def _number(self) -> NDArray[Any]:
        return self._columns[NUMBER].narrow


def _sums(numbers: NDArray[Any], before: int) -> Numbers:
    """The sums of all numbers up to each place, and of what was before. Widened first: numpy adds
    numbers of another type than the sums piece by piece, which takes twice as long."""
    found = numbers.astype(np.uint64)
    if found.size:
        found[0] += np.uint64(before)
    return np.cumsum(found, out=found)


def _is_in(kind: NDArray[np.uint8], ranges: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Whether each kind is in one of the ranges. Not ``table[kind]``, which looks up one number
    after the other; many bytes are compared at once. Below a range the difference is large."""
    found = np.zeros(len(kind), np.bool_)
    for first, count in ranges:
        found |= (kind - np.uint8(first)) < count
    return found


@dataclass(frozen=True)
class LiveBlocks:
    """The blocks that live where a window begins, oldest first."""

    block: Numbers
    thread: Numbers
    size: Numbers
    site: Numbers
    alignment: NDArray[np.uint8]


def split_columns(raw: bytes, count: int) -> tuple[list[StoredColumn], int]:
    """All columns of ``count`` numbers each, and how many bytes they took. Raises Damaged."""
    found: list[StoredColumn] = []
    at = 0
    for _ in range(COLUMNS):
        if at >= len(raw):
            raise Damaged("a column is missing")
        width = raw[at]
        at += 1
        if width > 8 or at + width * count > len(raw):
            raise Damaged("a column is cut off")
        planes = np.frombuffer(raw, np.uint8, width * count, at).reshape(width, count)
        at += width * count
        found.append(StoredColumn(planes))
    return found, at


def read_columns(raw: bytes, count: int) -> tuple[list[Any], int]:
    """The same as arrays. Kinds and alignments are bytes."""
    columns, at = split_columns(raw, count)
    return [
        each.byte if column in {KIND, ALIGNMENT} else each.wide
        for column, each in enumerate(columns)
    ], at


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


def live_of(columns: list[Any]) -> LiveBlocks:
    """Block numbers become absolute."""
    return LiveBlocks(
        np.cumsum(columns[NUMBER], dtype=np.uint64),
        columns[THREAD],
        columns[MORE],
        columns[SITE],
        columns[ALIGNMENT].astype(np.uint8, copy=False),
    )
