"""The library as a file: what it exports, and what the loader has to know of it."""

from __future__ import annotations

from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

GOLDEN = Path(__file__).with_name("exports.golden")
DF_STATIC_TLS = 0x10
DF_1_NODELETE = 0x8


def exports(library: Path) -> list[str]:
    """The names that the library defines for others, sorted."""
    with library.open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".dynsym")
        assert isinstance(symbols, SymbolTableSection)
        return sorted(
            symbol.name
            for symbol in symbols.iter_symbols()
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"
        )


def test_B1_18_each_name_of_others_is_whole(library: Path) -> None:
    """The linker left a hole with any bytes in the table, when the library defined a name that it
    also asked for by a version. Programs could not be linked with it, depending on the bytes."""
    with library.open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".dynsym")
        assert isinstance(symbols, SymbolTableSection)
        first_global = symbols["sh_info"]
        nameless = [each for each in list(symbols.iter_symbols())[first_global:] if not each.name]
    assert not nameless


def flags(library: Path, tag: str) -> int:
    """The value of a tag of the dynamic section, 0 when it has none."""
    with library.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        return sum(int(each.entry.d_val) for each in section.iter_tags(tag))


def test_B1_18_exports_are_golden(library: Path) -> None:
    """A name less is a function left to the C library; a name more may stand in another's way."""
    assert exports(library) == GOLDEN.read_text().split()


def test_B1_18_thread_storage_is_static(library: Path) -> None:
    """glibc's manual asks a replacement for it: what is allocated lazily calls malloc."""
    with library.open("rb") as stream:
        uses_it = any(each["p_type"] == "PT_TLS" for each in ELFFile(stream).iter_segments())
    assert not uses_it or flags(library, "DT_FLAGS") & DF_STATIC_TLS


def test_B1_18_is_never_unloaded(library: Path) -> None:
    """Its blocks outlive every dlclose."""
    assert flags(library, "DT_FLAGS_1") & DF_1_NODELETE


def test_B1_18_needs_no_runtime_of_cpp(library: Path) -> None:
    """A program in C would load it, with its memory and its start."""
    with library.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        needed = [str(vars(tag)["needed"]) for tag in section.iter_tags("DT_NEEDED")]
    assert needed
    assert not [name for name in needed if not name.startswith(("libc.", "ld-linux"))]
