"""What an ELF file says of itself, as far as replacing malloc is concerned."""

from __future__ import annotations

import struct
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

ALLOCATOR_SYMBOLS = (
    "malloc",
    "je_malloc",
    "_rjem_malloc",
    "mi_malloc",
    "tc_malloc",
    "sn_malloc",
    "rpmalloc",
    "scudo_malloc",
    "hoard_malloc",
    "TCMallocInternalMalloc",
    "scalable_malloc",
    "_mi_malloc_generic",
    "je_arena_malloc_hard",
)
SANITIZER_SYMBOLS = (
    "__asan_init",
    "__msan_init",
    "__tsan_init",
    "__hwasan_init",
    "__lsan_init",
    "__lsan_do_leak_check",
)
GO_SECTIONS = (".go.buildinfo", ".gopclntab", ".note.go.buildid")
READ_BYTES = frozenset(name.encode() for name in ALLOCATOR_SYMBOLS + SANITIZER_SYMBOLS)


@dataclass(frozen=True)
class ElfFacts:
    """``defined``, ``exported`` and ``wanted`` hold only the names of allocators and sanitizers.

    defined: functions inside the file. exported: of these, what other files find by their names.
    wanted: what the file cannot do without; a weak reference is none, as nothing needs to have it.
    """

    machine: str
    bits: int
    dynamic: bool
    interpreter: str
    soname: str
    build_id: str
    needed: tuple[str, ...]
    go: bool
    defined: frozenset[str] = field(default_factory=frozenset)
    exported: frozenset[str] = field(default_factory=frozenset)
    wanted: frozenset[str] = field(default_factory=frozenset)


def read_elf(path: Path | str, *, symbols: bool = False) -> ElfFacts | None:
    """None when the file is no ELF file, or is damaged. OSError when it cannot be read.

    The sets of names stay empty without ``symbols``: big programs have a million.
    """
    real = Path(path).resolve()
    status = real.stat()
    return _read(str(real), status.st_mtime_ns, status.st_size, symbols)


HASH_SECTIONS = (".gnu.hash", ".hash")


def exports_function(path: Path, name: str) -> bool:
    """Whether other files find a function of this name in a library, by its hash table as the
    loader does: big libraries have a million symbols. False of a file that cannot be read."""
    try:
        with path.open("rb") as file:
            from elftools.common.exceptions import ELFError
            from elftools.elf.elffile import ELFFile

            try:
                elf: Any = ELFFile(file)
                tables = (elf.get_section_by_name(section) for section in HASH_SECTIONS)
                found = [table.get_symbol(name) for table in tables if table is not None]
            except (ELFError, ValueError, KeyError, AttributeError, IndexError, struct.error):
                return False
    except OSError:
        return False
    return any(
        one is not None
        and one["st_shndx"] != "SHN_UNDEF"
        and one["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC")
        for one in found
    )


@lru_cache(maxsize=64)
def _read(path: str, mtime_ns: int, size: int, symbols: bool) -> ElfFacts | None:
    with Path(path).open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile

        file.seek(0)
        try:
            return _facts(ELFFile(file), symbols)
        except (ELFError, ValueError, KeyError, AttributeError, IndexError, struct.error):
            return None


def _facts(elf: Any, symbols: bool) -> ElfFacts:
    segments = list(elf.iter_segments())
    tags = [tag for part in _of_kind(segments, "PT_DYNAMIC") for tag in part.iter_tags()]
    interpreter = next((part.get_interp_name() for part in _of_kind(segments, "PT_INTERP")), "")
    defined, exported, wanted = _symbols(elf) if symbols else (set[str](), set[str](), set[str]())
    return ElfFacts(
        machine=elf.get_machine_arch(),
        bits=elf.elfclass,
        dynamic=bool(tags or elf.get_section_by_name(".dynamic")),
        interpreter=interpreter,
        soname=next((tag.soname for tag in tags if tag.entry.d_tag == "DT_SONAME"), ""),
        build_id=_build_id(segments),
        needed=tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
        go=any(elf.get_section_by_name(name) for name in GO_SECTIONS),
        defined=frozenset(defined),
        exported=frozenset(exported),
        wanted=frozenset(wanted),
    )


NOTE_SEGMENT, GNU_BUILD_ID = 4, 3
MOST_NOTES = 1 << 20
"""Bytes of a segment that are read: a damaged file may claim any number."""


def read_build_id(path: Path | str) -> str:
    """In hexadecimal; "" of a file without one, of a damaged file, and of no ELF file. OSError when
    it cannot be read.

    Without elftools, which takes some milliseconds: each command asks this of each allocator.
    """
    with Path(path).open("rb") as file:
        head = file.read(64)
        try:
            return _note_of(file, head)
        except (KeyError, IndexError, ValueError, OSError, struct.error):
            return ""


def _note_of(file: BinaryIO, head: bytes) -> str:
    """By elf(5) the header of the file has the place of the segments' headers at 28 or 32, and
    their size and number at 42 or 54. Each of these has the place of its segment in the file and
    its length there."""
    if head[:4] != b"\x7fELF":
        return ""
    order = {1: "<", 2: ">"}[head[5]]
    wide = {1: False, 2: True}[head[4]]
    (table,) = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)
    size, count = struct.unpack_from(order + "HH", head, 54 if wide else 42)
    layout = order + ("IIQQQQ" if wide else "IIIII")
    file.seek(table)
    segments = file.read(size * count)
    for begin in range(0, size * count, size):
        kind, *fields = struct.unpack_from(layout, segments, begin)
        if kind == NOTE_SEGMENT:
            file.seek(fields[1 if wide else 0])
            length = min(fields[4 if wide else 3], MOST_NOTES)
            if found := _build_id_in(file.read(length), order):
                return found
    return ""


def _build_id_in(notes: bytes, order: str) -> str:
    """Each note: lengths of its name and of its text, its kind, then both, padded to 4 bytes."""
    begin = 0
    while begin + 12 <= len(notes):
        name, text, kind = struct.unpack_from(order + "III", notes, begin)
        place = begin + 12 + (name + 3) // 4 * 4
        if kind == GNU_BUILD_ID and notes[begin + 12 : begin + 12 + name] == b"GNU\0":
            return notes[place : place + text].hex()
        begin = place + (text + 3) // 4 * 4
    return ""


def _of_kind(segments: list[Any], kind: str) -> list[Any]:
    return [part for part in segments if part["p_type"] == kind]


def _build_id(segments: list[Any]) -> str:
    for segment in _of_kind(segments, "PT_NOTE"):
        for note in segment.iter_notes():
            if note["n_type"] == "NT_GNU_BUILD_ID":
                return str(note["n_desc"])
    return ""


@dataclass(frozen=True)
class Symbol:
    """``section``: the number of the section that it lies in, 0 if the file wants it of others.
    ``binding``: 0 of a symbol that no other file sees, 2 of a weak one. ``visibility``: 0 and 3 of
    one that others see."""

    name: str
    address: int
    size: int
    kind: int
    section: int
    binding: int = 1
    visibility: int = 0

    @property
    def is_defined(self) -> bool:
        return self.section != 0

    @property
    def is_exported(self) -> bool:
        return self.is_defined and self.binding != LOCAL and self.visibility in SEEN


LOCAL, WEAK = 0, 2
SEEN = (0, 3)
SYMBOL_64, SYMBOL_32 = "IBBHQQ", "IIIBBH"
FUNCTIONS = (0, 2, 10)
"""Kinds of symbols: none said, a function, one that a function chooses."""


def symbols_of(table: Any, names: Container[bytes]) -> Iterator[Symbol]:
    """Those of the names, in their order. table: a section of symbols.

    Without elftools, which takes 0.1 ms for each symbol of the table.
    """
    elf, texts = table.elffile, table.stringtable.data()
    layout = ("<" if elf.little_endian else ">") + (SYMBOL_64 if elf.elfclass == 64 else SYMBOL_32)
    for fields in struct.iter_unpack(layout, table.data()):
        name = texts[fields[0] : texts.find(b"\0", fields[0])]
        if name not in names:
            continue
        if elf.elfclass == 64:
            _, info, other, section, address, size = fields
        else:
            _, address, size, info, other, section = fields
        yield Symbol(name.decode(), address, size, info & 15, section, info >> 4, other & 3)


def _symbols(elf: Any) -> tuple[set[str], set[str], set[str]]:
    """Defined, exported, wanted. Searched in the raw string table first: big programs have a
    million symbols."""
    defined, exported, wanted = set[str](), set[str](), set[str]()
    for table_name in (".dynsym", ".symtab"):
        table = elf.get_section_by_name(table_name)
        if table is None or not _mentions(table):
            continue
        for symbol in symbols_of(table, READ_BYTES):
            if symbol.kind not in FUNCTIONS:
                continue  # data of that name
            if not symbol.is_defined:
                wanted |= set() if symbol.binding == WEAK else {symbol.name}
                continue
            defined.add(symbol.name)
            if table_name == ".dynsym" and symbol.is_exported:
                exported.add(symbol.name)
    return defined, exported, wanted


def _mentions(table: Any) -> bool:
    text: bytes = table.stringtable.data()
    return any(word + b"\0" in text for word in READ_BYTES)
