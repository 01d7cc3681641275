"""Whether two files are one program, so that nothing can be measured between them."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import Any

from heapwise.catalog.elf import read_elf

LOADER_S = 20.0


def same_build(one: Path, other: Path) -> str:
    """By what they are known to be one program; "" if they may differ.

    Two ELF programs are one if what is loaded of them is equal, and so are the libraries that the
    loader finds for them. Names of folders in the debugging information do not count. Scripts are
    one only if they are one file, since they may start what lies beside them.
    """
    if one.resolve() == other.resolve():
        return "they are one file"
    try:
        facts, others = read_elf(one), read_elf(other)
        if facts is None or others is None or _loaded(one) != _loaded(other):
            return ""
        if facts.dynamic and _libraries(one, facts.interpreter) != _libraries(
                other, facts.interpreter):
            return ""
    except OSError:
        return ""
    build = f", build id {facts.build_id[:12]}" if facts.build_id == others.build_id != "" else ""
    return f"what is loaded of them is equal{build}"


def _loaded(path: Path) -> list[str]:
    """A hash of each loaded segment. The header of the file says where its tables are, and a note
    may say who built it: neither is part of what runs."""
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        elf = ELFFile(file)
        blank = [(0, elf.header["e_ehsize"]), *_notes(elf)]
        return [_hash(segment, blank) for segment in elf.iter_segments("PT_LOAD")]


def _notes(elf: Any) -> list[tuple[int, int]]:
    """Offset and size of each build id."""
    return [(note["n_offset"], note["n_size"]) for segment in elf.iter_segments("PT_NOTE")
            for note in segment.iter_notes() if note["n_type"] == "NT_GNU_BUILD_ID"]


def _hash(segment: Any, blank: list[tuple[int, int]]) -> str:
    begin, size = segment["p_offset"], segment["p_filesz"]
    data = bytearray(segment.data())
    for offset, length in blank:
        for place in range(max(offset, begin), min(offset + length, begin + size)):
            data[place - begin] = 0
    where = f"{segment['p_vaddr']:x} {segment['p_memsz']:x} {segment['p_flags']:x} "
    return hashlib.sha256(where.encode() + data).hexdigest()


def _libraries(path: Path, interpreter: str) -> set[tuple[str, str]] | str:
    """Name and hash of each library that the loader finds. What cannot be asked is of this path
    alone, so that it equals nothing."""
    if not interpreter:
        return str(path)
    try:
        found = subprocess.run([interpreter, "--list", str(path)], capture_output=True, text=True,
                               timeout=LOADER_S, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return str(path)
    if found.returncode != 0:
        return str(path)
    libraries = set()
    for line in found.stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        place = rest.rpartition(" (")[0]
        if arrow and place:
            libraries.add((name, hashlib.sha256(Path(place).read_bytes()).hexdigest()))
    return libraries
