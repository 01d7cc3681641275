"""A profile of pprof (profile.proto), compressed with gzip."""

from __future__ import annotations

import gzip
from collections.abc import Iterable

from heapwise.trace.file import Trace
from heapwise.trace.names.call_stacks import CallStack
from heapwise.trace.names.symbols import Place

SAMPLE_TYPE, SAMPLE, LOCATION, FUNCTION, STRINGS, DURATION, DEFAULT_TYPE = 1, 2, 4, 5, 6, 10, 14
"""The fields of a Profile that are written."""

SAMPLE_TYPES = (
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
    ("peak_objects", "count"),
    ("peak_space", "bytes"),
)


def pprof(trace: Trace, stacks: list[CallStack]) -> bytes:
    """Values of a sample, named as Go's heap profiles name them: what was allocated, what lives at
    the end (in use), and what lived when most bytes lived (peak)."""
    text = Strings()
    types = b"".join(
        _message(SAMPLE_TYPE, _number(1, text[kind]) + _number(2, text[unit]))
        for kind, unit in SAMPLE_TYPES
    )
    places: dict[Place, int] = {}
    functions: dict[tuple[str, str], int] = {}
    samples = []
    for stack in stacks:
        # A location is the leaf first; numbers of locations and functions begin with 1.
        locations = [places.setdefault(place, len(places) + 1) for place in reversed(stack.places)]
        samples.append(
            _message(
                SAMPLE,
                _packed(1, locations)
                + _packed(
                    2,
                    [
                        stack.blocks,
                        stack.bytes,
                        stack.end_blocks,
                        stack.end_bytes,
                        stack.peak_blocks,
                        stack.peak_bytes,
                    ],
                ),
            )
        )
    written = []
    for place, number in places.items():
        file, _, line = place.line.rpartition(":")
        function = functions.setdefault((place.name, file), len(functions) + 1)
        where = _number(1, function) + _number(2, int(line) if line.isdecimal() else 0)
        written.append(
            _message(LOCATION, _number(1, number) + _number(3, place.offset) + _message(4, where))
        )
    for (name, file), number in functions.items():
        written.append(
            _message(
                FUNCTION,
                _number(1, number)
                + _number(2, text[name])
                + _number(3, text[name])
                + _number(4, text[file]),
            )
        )
    seconds = trace.summary.wall_s if trace.summary else 0.0
    profile = [
        types,
        *samples,
        *written,
        _number(DURATION, round(seconds * 1e9)),
        _number(DEFAULT_TYPE, text["alloc_space"]),
    ]
    profile += [_message(STRINGS, word.encode(errors="replace")) for word in text.words]
    return gzip.compress(b"".join(profile), mtime=0)


class Strings:
    """The table of strings; the first is empty, as the format demands."""

    def __init__(self) -> None:
        self._numbers = {"": 0}

    def __getitem__(self, word: str) -> int:
        return self._numbers.setdefault(word, len(self._numbers))

    @property
    def words(self) -> list[str]:
        return list(self._numbers)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _packed(field: int, numbers: Iterable[int]) -> bytes:
    return _message(field, b"".join(map(_varint, numbers)))
