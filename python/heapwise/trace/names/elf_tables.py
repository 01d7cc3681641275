"""What names need of an ELF file: where it is loaded, its build id, its functions.

elftools reads each symbol in 0.1 ms. A browser has a million of them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER = struct.Struct("<4sBB58x")
HEADER_BYTES = 64
TABLES = struct.Struct("<QQ6xHHHHH")
"""From byte 32 on: where the tables of segments and of sections are, sizes and counts, and which
section has the names of sections."""

SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL: Any = np.dtype(
    [
        ("name", "<u4"),
        ("info", "u1"),
        ("other", "u1"),
        ("section", "<u2"),
        ("start", "<u8"),
        ("size", "<u8"),
    ]
)
NOTE = struct.Struct("<III")
ELF64, LITTLE = 2, 1
LOAD, NOTES = 1, 4
SYMBOL_TABLES = (2, 11)
FUNCTIONS = (2, 10)
GNU_BUILD_ID = 3
DEBUG_FOLDER = Path("/usr/lib/debug/.build-id")
DEBUG_SECTIONS = (b".debug_info", b".zdebug_info", b".gnu_debuglink", b".gnu_debugaltlink")


@dataclass(frozen=True)
class ElfSection:
    """A row of the table of sections. names: the section that has the names of its symbols."""

    name: bytes
    kind: int
    offset: int
    size: int
    names: int


class ElfTables:
    """Empty tables of a file that cannot be read, or is no ELF file of 64 bits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._segments: list[tuple[int, int, int, int]] = []
        self._sections: list[ElfSection] = []
        try:
            self._read()
        except (OSError, struct.error, ValueError, IndexError):
            self._segments, self._sections = [], []

    def _read(self) -> None:
        with self.path.open("rb") as file:
            head = file.read(HEADER_BYTES)
            magic, width, order = HEADER.unpack(head)
            if magic != b"\x7fELF" or width != ELF64 or order != LITTLE:
                return
            segments, sections, segment_bytes, segment_count, section_bytes, count, names = (
                TABLES.unpack_from(head, 32)
            )
            file.seek(segments)
            table = file.read(segment_bytes * segment_count)
            for at in range(0, len(table), segment_bytes):
                kind, _, offset, address, _, size, *_ = SEGMENT.unpack_from(table, at)
                self._segments.append((kind, offset, size, address))
            file.seek(sections)
            table = file.read(section_bytes * count)
            rows = [
                SECTION.unpack_from(table, at)
                for at in range(0, len(table), section_bytes or SECTION.size)
            ]
            text = b""
            if rows:
                file.seek(rows[names][4])
                text = file.read(rows[names][5])
            self._sections = [
                ElfSection(text[row[0] : text.index(b"\0", row[0])], row[1], row[4], row[5], row[6])
                for row in rows
            ]

    @property
    def loaded(self) -> list[tuple[int, int, int]]:
        """(file offset, size, virtual address) of what is loaded."""
        return [each[1:] for each in self._segments if each[0] == LOAD]

    @cached_property
    def build_id(self) -> str:
        """In hexadecimal; empty if the file has none."""
        for kind, offset, size, _ in self._segments:
            if kind == NOTES and (found := _build_id(self._bytes(offset, size))):
                return found
        return ""

    @property
    def has_lines(self) -> bool:
        """Whether the file, or another that belongs to it, may have debug information."""
        if any(each.name in DEBUG_SECTIONS for each in self._sections):
            return True
        own = self.build_id
        return bool(own) and (DEBUG_FOLDER / own[:2] / f"{own[2:]}.debug").exists()

    def function(self, address: int) -> str:
        """The function that has this virtual address; empty if it is not known."""
        starts, ends, names = self._functions
        after = int(np.searchsorted(starts, np.uint64(address), "right"))
        if not after or ends[after - 1] <= address:
            return ""
        last = first = after - 1
        while first and starts[first - 1] == starts[last] and ends[first - 1] == ends[last]:
            first -= 1
        return max(self._name(*names[row]) for row in range(first, after))

    @cached_property
    def _functions(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Starts, ends, and for each the section and the place of its name."""
        tables = [np.zeros(0, SYMBOL)]
        sections = [np.zeros(0, np.int64)]
        for section in self._sections:
            if section.kind not in SYMBOL_TABLES:
                continue
            raw = self._bytes(section.offset, section.size)
            table = np.frombuffer(raw, SYMBOL, len(raw) // SYMBOL.itemsize)
            kinds = table["info"] & 15
            table = table[np.isin(kinds, FUNCTIONS) & (table["start"] != 0)]
            tables.append(table)
            sections.append(np.full(len(table), section.names))
        all_ = np.concatenate(tables)
        starts = all_["start"]
        ends = starts + np.maximum(all_["size"], np.uint64(1))
        order = np.lexsort((ends, starts))
        names = np.stack([np.concatenate(sections), all_["name"].astype(np.int64)], 1)
        return starts[order], ends[order], names[order]

    def _name(self, section: int, at: int) -> str:
        names = self._names_of(int(section))
        return names[at : names.find(b"\0", at)].decode(errors="replace")

    def _names_of(self, section: int) -> bytes:
        if section not in self._texts:
            row = self._sections[section]
            self._texts[section] = self._bytes(row.offset, row.size)
        return self._texts[section]

    @cached_property
    def _texts(self) -> dict[int, bytes]:
        return {}

    def _bytes(self, offset: int, size: int) -> bytes:
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                return file.read(size)
        except (OSError, ValueError, OverflowError):
            return b""


def _build_id(notes: bytes) -> str:
    at = 0
    while at + NOTE.size <= len(notes):
        name_bytes, bytes_, kind = NOTE.unpack_from(notes, at)
        name_at = at + NOTE.size
        content_at = name_at + (name_bytes + 3) // 4 * 4
        if kind == GNU_BUILD_ID and notes[name_at : name_at + name_bytes] == b"GNU\0":
            return notes[content_at : content_at + bytes_].hex()
        at = content_at + (bytes_ + 3) // 4 * 4
    return ""
