"""What an ELF file says of itself, as far as replacing malloc is concerned."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

ALLOCATOR_SYMBOLS = (
    "malloc", "je_malloc", "_rjem_malloc", "mi_malloc", "tc_malloc", "sn_malloc", "rpmalloc",
    "scudo_malloc", "hoard_malloc", "TCMallocInternalMalloc", "scalable_malloc",
    "_mi_malloc_generic", "je_arena_malloc_hard",
)
SANITIZER_SYMBOLS = (
    "__asan_init", "__msan_init", "__tsan_init", "__hwasan_init", "__lsan_init",
    "__lsan_do_leak_check",
)
GO_SECTIONS = (".go.buildinfo", ".gopclntab", ".note.go.buildid")
READ = ALLOCATOR_SYMBOLS + SANITIZER_SYMBOLS


@dataclass(frozen=True)
class ElfFacts:
    """``defined`` and ``wanted`` hold only the names of allocators and sanitizers."""

    machine: str
    bits: int
    dynamic: bool
    interpreter: str
    soname: str
    build_id: str
    needed: tuple[str, ...]
    go: bool
    defined: frozenset[str] = field(default_factory=frozenset)
    wanted: frozenset[str] = field(default_factory=frozenset)


def read_elf(path: Path | str, *, symbols: bool = False) -> ElfFacts | None:
    """None when the file is no ELF file, or is damaged. OSError when it cannot be read.

    ``defined`` and ``wanted`` stay empty without ``symbols``: big programs have a million.
    """
    real = Path(path).resolve()
    status = real.stat()
    return _read(str(real), status.st_mtime_ns, status.st_size, symbols)


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
        except (ELFError, ValueError, KeyError, AttributeError, IndexError):
            return None


def _facts(elf: Any, symbols: bool) -> ElfFacts:
    dynamic = elf.get_section_by_name(".dynamic")
    tags = [tag for segment in elf.iter_segments("PT_DYNAMIC") for tag in segment.iter_tags()]
    interpreter = next((part.get_interp_name() for part in elf.iter_segments("PT_INTERP")), "")
    defined, wanted = _symbols(elf) if symbols else (set[str](), set[str]())
    return ElfFacts(
        machine=elf.get_machine_arch(), bits=elf.elfclass,
        dynamic=bool(dynamic or tags), interpreter=interpreter,
        soname=next((tag.soname for tag in tags if tag.entry.d_tag == "DT_SONAME"), ""),
        build_id=_build_id(elf),
        needed=tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
        go=any(elf.get_section_by_name(name) for name in GO_SECTIONS),
        defined=frozenset(defined), wanted=frozenset(wanted),
    )


def _build_id(elf: Any) -> str:
    for segment in elf.iter_segments("PT_NOTE"):
        for note in segment.iter_notes():
            if note["n_type"] == "NT_GNU_BUILD_ID":
                return str(note["n_desc"])
    return ""


def _symbols(elf: Any) -> tuple[set[str], set[str]]:
    """Searched in the raw string table first: big programs have a million symbols."""
    defined: set[str] = set()
    wanted: set[str] = set()
    for name in (".dynsym", ".symtab"):
        table = elf.get_section_by_name(name)
        if table is None or not _mentions(table):
            continue
        for symbol in table.iter_symbols():
            if symbol.name in READ:
                inside = symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["type"] in (
                    "STT_FUNC", "STT_GNU_IFUNC", "STT_NOTYPE", "STT_LOOS",
                )
                (defined if inside else wanted).add(symbol.name)
    return defined, wanted


def _mentions(table: Any) -> bool:
    text: bytes = table.stringtable.data()
    return any(word.encode() + b"\0" in text for word in READ)
