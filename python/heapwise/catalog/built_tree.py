"""What a build consists of: every file of its tree, of which a program may load, start or read any.

A hash of the program's file alone says nothing of its plug-ins, libraries, scripts, children and
data. Nobody can list what a program will open, so the whole tree counts, or nothing is known.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MOST_FILES = 20_000
MOST_BYTES = 256 << 20
"""The largest tree that is read. It would take longer to read a larger one than to measure its
program."""

OF_GIT = ".git"
OWN_PLACE = b"\0the tree\0"
"""Stands for the path of a tree, which builds write into their files."""

PYC_HEADER = 16


def tree_digest(root: Path) -> str:
    """A hash of names, modes and contents; "" if the tree is too large or cannot be read.

    Two things do not count: what of an ELF file is not loaded, such as names of folders in the
    debugging information; and the path of the tree itself where it stands in a file. ``root`` may
    be a file.
    """
    found, left = hashlib.sha256(), MOST_BYTES
    try:
        for number, path in enumerate(_entries(root)):
            status = path.lstat()
            left -= status.st_size
            if number >= MOST_FILES or left < 0:
                return ""
            name = os.fsencode(path.relative_to(root))
            kind = f"{stat.S_IFMT(status.st_mode):o} {status.st_mode & 0o111:o} "
            found.update(
                hashlib.sha256(
                    kind.encode() + name + b"\0" + _contents(path, status.st_mode, root)
                ).digest()
            )
    except (OSError, ValueError):
        return ""
    return found.hexdigest()


def names_path(root: Path, path: str) -> bool:
    """Whether what may be run of a tree names this path: what is loaded of an ELF file, a script,
    or a link. Also if the tree is too large or cannot be read. Other files, such as those of a
    build system, name it for the compiler."""
    own, left = os.fsencode(path), MOST_BYTES
    try:
        for number, file in enumerate(_entries(root)):
            status = file.lstat()
            left -= status.st_size
            if number >= MOST_FILES or left < 0 or _names(file, status.st_mode, own):
                return True
    except (OSError, ValueError):
        return True
    return False


def _names(file: Path, mode: int, path: bytes) -> bool:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    if stat.S_ISLNK(mode):
        return path in os.fsencode(file.readlink())
    if not stat.S_ISREG(mode):
        return False
    try:
        with file.open("rb") as stream:
            segments = ELFFile(stream).iter_segments("PT_LOAD")
            loaded = [segment.data() for segment in segments]
    except ELFError:
        loaded = []
    if not loaded:
        return bool(mode & 0o111) and path in file.read_bytes()
    return any(path in data for data in loaded)


def _entries(root: Path) -> Iterator[Path]:
    """``root`` first, then what is below it in the order of the names. A link is not followed."""
    yield root
    if root.is_symlink() or not root.is_dir():
        return
    for path in sorted(root.iterdir()):
        if path.name != OF_GIT:
            yield from _entries(path)


def _contents(path: Path, mode: int, root: Path) -> bytes:
    if stat.S_ISLNK(mode):
        return _link(path, root)
    if not stat.S_ISREG(mode):
        return b""
    own = os.fsencode(root)
    data = path.read_bytes()
    if data.startswith(b"\x7fELF") and (loaded := _loaded(path, own)):
        return loaded
    if path.suffix == ".pyc" and data[4:8] == b"\0\0\0\0":  # the time of its source follows
        data = data[:8] + data[PYC_HEADER:]
    return data.replace(own, OWN_PLACE)


def _link(path: Path, root: Path) -> bytes:
    """Where it leads: inside of the tree as written, outside of it to one file for both trees."""
    target = Path(os.path.normpath(path.parent / path.readlink()))
    inside = target == root or target.is_relative_to(root)
    return os.fsencode(target.relative_to(root) if inside else target.resolve())


def _loaded(path: Path, own: bytes) -> bytes:
    """A hash of each loaded segment; empty for a file that is not a whole ELF program or library.

    The header of the file says where its tables are, and a note may say who built it: neither is
    part of what runs.
    """
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            blank = [(0, elf.header["e_ehsize"]), *_notes(elf)]
            return b"".join(_hash(segment, blank, own) for segment in elf.iter_segments("PT_LOAD"))
    except ELFError:
        return b""


def _notes(elf: Any) -> list[tuple[int, int]]:
    """Offset and size of each build id."""
    return [
        (note["n_offset"], note["n_size"])
        for segment in elf.iter_segments("PT_NOTE")
        for note in segment.iter_notes()
        if note["n_type"] == "NT_GNU_BUILD_ID"
    ]


def _hash(segment: Any, blank: list[tuple[int, int]], own: bytes) -> bytes:
    begin, size = segment["p_offset"], segment["p_filesz"]
    data = bytearray(segment.data())
    for offset, length in blank:
        for place in range(max(offset, begin), min(offset + length, begin + size)):
            data[place - begin] = 0
    where = f"{segment['p_vaddr']:x} {segment['p_memsz']:x} {segment['p_flags']:x} "
    return hashlib.sha256(where.encode() + data.replace(own, OWN_PLACE)).digest()
