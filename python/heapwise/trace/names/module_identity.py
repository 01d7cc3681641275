"""Whether a file is the one that was mapped while a program was recorded."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from heapwise.trace.names.elf_tables import ElfTables
from heapwise.trace.recording_texts import ModuleFile

PIECE = 1 << 20


class Match(Enum):
    """What has become of the file. unknown: the trace does not say which build it was."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ModuleIdentity:
    """build_id: hexadecimal, or empty. file: of a module without one. is_noted: whether the trace
    was made by a recorder that notes both."""

    build_id: str = ""
    file: ModuleFile | None = None
    is_noted: bool = False

    def match(self, path: Path) -> Match:
        if not path.exists():
            return Match.GONE
        if not self.is_noted:
            return Match.UNKNOWN
        try:
            if self.build_id:
                same = build_id_of(path) == self.build_id
            else:
                same = self.file is not None and _has_content(path, self.file)
        except OSError:
            return Match.GONE
        return Match.SAME if same else Match.CHANGED


def build_id_of(path: Path) -> str:
    """In hexadecimal; empty if the file has none. OSError if it cannot be read."""
    with path.open("rb"):
        return ElfTables(path).build_id


def _has_content(path: Path, wanted: ModuleFile) -> bool:
    if path.stat().st_size != wanted.size:
        return False
    found = 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            found = zlib.crc32(piece, found)
    return found == wanted.crc32
