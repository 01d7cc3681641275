"""The archive from which a kernel makes its first file system (cpio, format "newc")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

FOLDER = 0o040755
FILE = 0o100000
END = "TRAILER!!!"


@dataclass(frozen=True)
class Entry:
    content: bytes
    mode: int = 0o644


def archive(entries: Mapping[str, Entry]) -> bytes:
    """entries: absolute path -> file. Folders above the files are made."""
    parts: list[bytes] = []
    folders = {str(parent) for path in entries for parent in PurePosixPath(path).parents}
    for folder in sorted(folders - {"/"}):
        parts.append(_entry(folder, FOLDER, b"", len(parts)))
    for path, entry in entries.items():
        parts.append(_entry(path, FILE | entry.mode, entry.content, len(parts)))
    return b"".join([*parts, _entry(END, 0, b"", 0)])


def _entry(path: str, mode: int, content: bytes, number: int) -> bytes:
    """Name and content each end at a multiple of four bytes."""
    name = path.lstrip("/").encode() + b"\0"
    links, owner, group, time, device = 1, 0, 0, 0, 0
    fields = (
        number + 1,
        mode,
        owner,
        group,
        links,
        time,
        len(content),
        device,
        device,
        device,
        device,
        len(name),
        0,
    )
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return _padded(head) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
