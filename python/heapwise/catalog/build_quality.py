"""How a library was compiled, by its code: what a file is called says nothing of it (V18)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from heapwise.catalog.elf import symbols_of
from heapwise.model import Peer

ENTRIES = frozenset(
    (
        b"malloc",
        b"free",
        b"calloc",
        b"realloc",
        b"aligned_alloc",
        b"posix_memalign",
        b"memalign",
        b"malloc_usable_size",
        b"_Znwm",
        b"_ZdlPv",
        b"mi_malloc",
        b"mi_free",
    )
)
"""Functions with arguments, of which every allocator has some."""

FIRST_BYTES = 64
"""The first bytes of a function: without optimisation its arguments go to the stack at once."""

SPILLS_X86 = (b"\x48\x89\x7d", b"\x48\x89\xbd", b"\x89\x7d", b"\x89\xbd")
"""mov %rdi or %edi to a place below %rbp, after the prologue that makes %rbp the frame."""

FRAME_X86 = b"\x55\x48\x89\xe5"
STORE_ARM = {0xF90003E0, 0xB90003E0}
"""str x0 or w0 to a place above sp, whose offset is masked out."""

STORE_ARM_MASK = 0xFFC003FF

ASSERT = "__assert_fail"
PLT_ENTRY_BYTES = 16


@dataclass(frozen=True)
class BuildQuality:
    """``asserts``: places in the code that call the C library's failed assertion."""

    unoptimised: bool = False
    asserts: int = 0


def build_quality(path: Path | str) -> BuildQuality:
    """Has no objection to a file that cannot be read, or to one of an unknown processor."""
    try:
        real = Path(path).resolve()
        status = real.stat()
        return _quality(str(real), status.st_mtime_ns, status.st_size)
    except OSError:
        return BuildQuality()


@lru_cache(maxsize=64)
def _quality(path: str, mtime_ns: int, size: int) -> BuildQuality:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    with Path(path).open("rb") as file:
        try:
            elf = ELFFile(file)
            return BuildQuality(_is_unoptimised(elf), _assertions(elf))
        except (ELFError, ValueError, KeyError, AttributeError, IndexError, struct.error):
            return BuildQuality()


def _is_unoptimised(elf: Any) -> bool:
    """At least half of the entries put their first argument on the stack as they begin."""
    spills = {"EM_X86_64": _spills_x86, "EM_AARCH64": _spills_arm}.get(elf["e_machine"])
    bodies = list(_entries(elf)) if spills else []
    return bool(bodies) and spills is not None and 2 * sum(map(spills, bodies)) >= len(bodies)


def _entries(elf: Any) -> Iterator[bytes]:
    """The first bytes of each different function of ``ENTRIES`` that the library defines."""
    table, seen = elf.get_section_by_name(".dynsym"), set[int]()
    if table is None:
        return
    segments = list(elf.iter_segments("PT_LOAD"))
    for symbol in symbols_of(table, ENTRIES):
        if not symbol.is_exported or symbol.address in seen:
            continue
        seen.add(symbol.address)
        yield _read(elf, segments, symbol.address, min(FIRST_BYTES, symbol.size or FIRST_BYTES))


def _read(elf: Any, segments: list[Any], address: int, size: int) -> bytes:
    for segment in segments:
        begin = segment["p_vaddr"]
        if begin <= address < begin + segment["p_filesz"]:
            elf.stream.seek(segment["p_offset"] + address - begin)
            return bytes(elf.stream.read(size))
    return b""


def _spills_x86(body: bytes) -> bool:
    frame = body.find(FRAME_X86)
    return frame >= 0 and any(spill in body[frame:] for spill in SPILLS_X86)


def _spills_arm(body: bytes) -> bool:
    words = struct.unpack(f"<{len(body) // 4}I", body[: len(body) // 4 * 4])
    return any(word & STORE_ARM_MASK in STORE_ARM for word in words[:8])


def _assertions(elf: Any) -> int:
    """Direct calls of ``ASSERT`` by its entry of the linkage table; 1 if it is called otherwise."""
    targets = _linkage_entries(elf)
    if targets is None:
        return 0
    text = elf.get_section_by_name(".text")
    if text is None or elf["e_machine"] != "EM_X86_64":
        return 1
    code, base = text.data(), text["sh_addr"]
    found, at = 0, code.find(b"\xe8")
    while 0 <= at <= len(code) - 5:
        [offset] = struct.unpack_from("<i", code, at + 1)
        found += base + at + 5 + offset in targets
        at = code.find(b"\xe8", at + 1)
    return max(found, 1)


def _linkage_entries(elf: Any) -> set[int] | None:
    """Addresses at which a call may reach ``ASSERT``; None if the library does not import it."""
    symbols = elf.get_section_by_name(".dynsym")
    if symbols is None or not any(
        not symbol.is_defined for symbol in symbols_of(symbols, {ASSERT.encode()})
    ):
        return None
    relocations = elf.get_section_by_name(".rela.plt")
    names = (
        [symbols.get_symbol(r["r_info_sym"]).name for r in relocations.iter_relocations()]
        if relocations
        else []
    )
    if ASSERT not in names:
        return set()
    place, found = names.index(ASSERT), set()
    for name, before in ((".plt.sec", 0), (".plt", 1)):
        if section := elf.get_section_by_name(name):
            found.add(section["sh_addr"] + PLT_ENTRY_BYTES * (place + before))
    return found


def examined(peer: Peer) -> Peer:
    """The peer with what its library's code says of how it was built."""
    found = build_quality(peer.path) if peer.path else BuildQuality()
    return replace(peer, unoptimised=found.unoptimised, asserts=found.asserts)
