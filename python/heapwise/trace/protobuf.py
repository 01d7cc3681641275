"""The wire format of protocol buffers, as far as a heap profile needs it."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Malformed(ValueError):
    """The bytes are not a message."""


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(number, value) of each field: a varint or the bytes of all else. Raises Malformed."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = varint(message, at)
            yield number, value
            continue
        length = {FIXED64: 8, FIXED32: 4}.get(wire)
        if wire == BYTES:
            length, at = varint(message, at)
        if length is None or number == 0 or at + length > len(message):
            raise Malformed("a field is cut off or of an unknown kind")
        yield number, message[at : at + length]
        at += length


def varint(message: bytes, at: int) -> tuple[int, int]:
    """The number and where the next one begins. Raises Malformed."""
    found = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise Malformed("a number is cut off")
        byte = message[at]
        at += 1
        found |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return found & 0xFFFF_FFFF_FFFF_FFFF, at


def numbers(value: int | bytes) -> Iterator[int]:
    """The numbers of a repeated field, packed or not. Raises Malformed."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        found, at = varint(value, at)
        yield found


def signed_integer(number: int) -> int:
    """An int64."""
    return number - (1 << 64) if number >> 63 else number
