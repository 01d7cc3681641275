"""A profile.proto of pprof: its samples with their stacks.

The format is proto/profile.proto of google/pprof.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from heapwise.trace.names.symbols import Place
from heapwise.trace.protobuf import Malformed, fields, numbers, signed_integer

SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRINGS = 1, 2, 3, 4, 5, 6


class Location(NamedTuple):
    """lines: (function, line), the innermost inlined function first."""

    mapping: int
    address: int
    lines: list[tuple[int, int]]


def read_pprof(
    content: bytes,
) -> tuple[str, tuple[tuple[str, str], ...], list[tuple[tuple[Place, ...], tuple[int, ...]]]]:
    """What wrote it, the kinds of its values, and the stacks, the innermost place first.

    Raises Malformed, or IndexError for a number of a string that is not there.
    """
    parts: dict[int, list[bytes]] = {}
    for number, value in fields(content):
        if isinstance(value, bytes):
            parts.setdefault(number, []).append(value)
    words = [word.decode(errors="replace") for word in parts.get(STRINGS, [])]
    if not words or words[0]:
        raise Malformed("it has no table of strings")
    kinds = []
    for message in parts.get(SAMPLE_TYPE, []):
        kind = _numbers_of(message)
        kinds.append((words[kind.get(1, 0)], words[kind.get(2, 0)]))
    files = {
        found.get(1, 0): words[found.get(5, 0)]
        for message in parts.get(MAPPING, [])
        if (found := _numbers_of(message))
    }
    functions = {
        found.get(1, 0): (words[found.get(2, 0)], words[found.get(4, 0)])
        for message in parts.get(FUNCTION, [])
        if (found := _numbers_of(message))
    }
    places = {
        number: _places(location, files, functions)
        for number, location in map(_location, parts.get(LOCATION, []))
    }
    stacks = [_sample(message, places, len(kinds)) for message in parts.get(SAMPLE, [])]
    return "pprof", tuple(kinds), stacks


def _numbers_of(message: bytes) -> dict[int, int]:
    return {number: value for number, value in fields(message) if isinstance(value, int)}


def _location(message: bytes) -> tuple[int, Location]:
    whole = _numbers_of(message)
    lines = []
    for number, value in fields(message):
        if number == 4 and isinstance(value, bytes):
            line = _numbers_of(value)
            lines.append((line.get(1, 0), signed_integer(line.get(2, 0))))
    return whole.get(1, 0), Location(whole.get(2, 0), whole.get(3, 0), lines)


def _places(
    location: Location, files: dict[int, str], functions: dict[int, tuple[str, str]]
) -> list[Place]:
    module = files.get(location.mapping, "")
    found = []
    for function, line in location.lines:
        name, file = functions.get(function, ("", ""))
        where = f"{Path(file).name}:{line}" if file and line > 0 else ""
        found.append(Place(module, location.address, name, where))
    return found or [Place(module, location.address)]


def _sample(
    message: bytes, places: dict[int, list[Place]], kinds: int
) -> tuple[tuple[Place, ...], tuple[int, ...]]:
    stack: list[Place] = []
    values: list[int] = []
    for number, value in fields(message):
        if number == 1:
            for location in numbers(value):
                stack += places.get(location, [])
        elif number == 2:
            values += map(signed_integer, numbers(value))
    if len(values) != kinds:
        raise Malformed("a sample has another number of values than the profile has kinds")
    return tuple(stack), tuple(values)
