"""The reports of faults that the heap appended to ``HEAPWISE_MALLOC_REPORT``, with the names of the
code in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from heapwise.trace.names.symbols import Place, Symbols
from heapwise.trace.recording_texts import Modules


class ThreadStack(msgspec.Struct, frozen=True):
    """thread: the number by which the system knows it. stack: addresses, the innermost first."""

    thread: int
    stack: list[str] = []


class FileOfCode(msgspec.Struct, frozen=True):
    """A piece of a file, from ``offset`` on, that was mapped at ``begin``."""

    begin: str
    end: str
    offset: str
    file: str


class FaultReport(msgspec.Struct, frozen=True):
    """A line of the file. The members are described in docs/how-to/choose-a-profile.md."""

    version: int
    profile: str
    kind: str
    address: str
    bytes: int
    found: ThreadStack
    block: str | None = None
    allocated: ThreadStack | None = None
    freed: ThreadStack | None = None
    allocated_at: str | None = None
    freed_at: str | None = None
    files: list[FileOfCode] = []


class NamedCalls(msgspec.Struct, frozen=True):
    """The calls of one event: what it was, and the places, the innermost first."""

    event: str
    places: list[tuple[Place, ...]]


def read_fault_reports(file: Path) -> list[FaultReport]:
    """Raises msgspec.DecodeError for a file with other lines, and OSError."""
    decoder = msgspec.json.Decoder(FaultReport)
    return [decoder.decode(line) for line in file.read_bytes().splitlines() if line.strip()]


def named_calls(report: FaultReport) -> Iterator[NamedCalls]:
    """Only calls in files that the report names: those of the heap itself are not among them."""
    symbols = Symbols(Modules(maps="".join(map(_mapping, report.files))))
    for event, addresses in _events(report):
        places = [symbols.frames(int(address, 16)) for address in addresses]
        if known := [frames for frames in places if frames[0].module]:
            yield NamedCalls(event, known)


def _events(report: FaultReport) -> Iterator[tuple[str, list[str]]]:
    yield "found", report.found.stack
    for event, stack, site in (
        ("allocated", report.allocated, report.allocated_at),
        ("freed", report.freed, report.freed_at),
    ):
        if stack is not None:
            yield event, stack.stack
        elif site is not None:
            yield event, [site]


def _mapping(piece: FileOfCode) -> str:
    """As /proc/PID/maps has it."""
    begin, end, offset = (
        each.removeprefix("0x") for each in (piece.begin, piece.end, piece.offset)
    )
    return f"{begin}-{end} r-xp {offset} 00:00 0 {piece.file}\n"
