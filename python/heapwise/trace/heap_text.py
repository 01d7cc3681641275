"""Heap profiles as text: "heap profile:" of gperftools, and "heap_v2/" of jemalloc.

jemalloc writes what it sampled, so its figures are divided by the chance of a block of the mean
size to be a sample, as jeprof does. The mappings at the end of the file name the addresses.
"""

from __future__ import annotations

import re
from math import expm1

from heapwise.trace.names.symbols import Place, Symbols
from heapwise.trace.protobuf import Malformed
from heapwise.trace.recording_texts import Modules

KINDS = (
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
)

FIGURES = r"(\d+): +(\d+) \[ *(\d+): +(\d+)\]"
GPERFTOOLS = re.compile(rf"\s*{FIGURES} @((?: 0x[0-9a-f]+)*)\s*$")
JEMALLOC = re.compile(rf"\s*t\*: *{FIGURES}")
STACK = re.compile(r"@((?: 0x[0-9a-f]+)*)\s*$")
SAMPLED = re.compile(r"(?:@ )?heap_v2/(\d+)")


def read_text_profile(
    text: str,
) -> tuple[str, tuple[tuple[str, str], ...], list[tuple[tuple[Place, ...], tuple[int, ...]]]]:
    """What wrote it, the kinds of its values, and the stacks, the innermost place first.

    Raises Malformed.
    """
    body, _, maps = text.partition("MAPPED_LIBRARIES:")
    lines = body.splitlines()
    is_jemalloc = lines[0].startswith("heap_v2/")
    sampled = SAMPLED.search(lines[0])
    every = int(sampled.group(1)) if sampled else 0
    found = _jemalloc(lines) if is_jemalloc else _gperftools(lines)
    if not found:
        raise Malformed("it has no stacks")
    symbols = Symbols(Modules(maps))
    symbols.learn(address for stack, _ in found for address in stack)
    stacks = []
    for stack, (blocks, bytes_, all_blocks, all_bytes) in found:
        values = (*_scaled(blocks, bytes_, every), *_scaled(all_blocks, all_bytes, every))
        stacks.append(
            (tuple(place for address in stack for place in symbols.frames(address)), values)
        )
    # Without prof_accum jemalloc counts only what lives.
    carried = 4 if any(values[3] for _, values in stacks) else 2
    return (
        ("jemalloc" if is_jemalloc else "gperftools"),
        KINDS[:carried],
        [(places, values[:carried]) for places, values in stacks],
    )


Figures = tuple[int, ...]


def _gperftools(lines: list[str]) -> list[tuple[tuple[int, ...], Figures]]:
    return [
        (_addresses(match.group(5)), tuple(map(int, match.groups()[:4])))
        for line in lines[1:]
        if (match := GPERFTOOLS.match(line))
    ]


def _jemalloc(lines: list[str]) -> list[tuple[tuple[int, ...], Figures]]:
    """A stack is in a line of its own; the sum of all threads is in the line "t*" after it."""
    found = []
    stack: tuple[int, ...] | None = None
    for line in lines[1:]:
        if match := STACK.match(line):
            stack = _addresses(match.group(1))
        elif stack is not None and (match := JEMALLOC.match(line)):
            found.append((stack, tuple(map(int, match.groups()))))
            stack = None
    return found


def _addresses(text: str) -> tuple[int, ...]:
    return tuple(int(word, 16) for word in text.split())


def _scaled(blocks: int, bytes_: int, every: int) -> tuple[int, int]:
    if not every or not blocks or not bytes_:
        return blocks, bytes_
    chance = -expm1(-bytes_ / blocks / every)
    return round(blocks / chance), round(bytes_ / chance)
