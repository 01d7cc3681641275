"""Symbols and build ids are read without elftools, which is too slow for that: it says what they
are."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from heapwise.catalog import read_elf, system_library
from heapwise.catalog.elf import read_build_id, symbols_of

SOURCE = """
void *wanted(void);
static int hidden(void) { return 3; }
int data = 4;
__attribute__((weak)) int weak(void) { return hidden(); }
void *malloc(unsigned long size) { return size ? wanted() : 0; }
"""
KINDS = {"STT_NOTYPE": 0, "STT_OBJECT": 1, "STT_FUNC": 2, "STT_SECTION": 3, "STT_FILE": 4}


@pytest.mark.parametrize("flags", [["-m64"], ["-m64", "-fPIC", "-shared", "-nostdlib"], ["-m32"]])
def test_symbols_are_those_that_elftools_finds(tmp_path: Path, flags: list[str]) -> None:
    source, linked_file = tmp_path / "some.c", tmp_path / "some.o"
    source.write_text(SOURCE)
    linked = "-shared" in flags
    subprocess.run(
        [
            "gcc",
            "-O1",
            "-fno-builtin",
            "-w",
            *flags,
            *([] if linked else ["-c"]),
            source,
            "-o",
            linked_file,
        ],
        check=True,
    )
    with linked_file.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".dynsym" if linked else ".symtab")
        expected = [
            (
                s.name,
                s["st_value"],
                s["st_size"],
                KINDS[s["st_info"]["type"]],
                s["st_shndx"] == "SHN_UNDEF",
            )
            for s in table.iter_symbols()
        ]
        names = {name.encode() for name, *_ in expected}
        found = [
            (s.name, s.address, s.size, s.kind, s.section == 0) for s in symbols_of(table, names)
        ]
        assert found == expected
        assert [s.name for s in symbols_of(table, {b"malloc"})] == ["malloc"]
    assert {"malloc", "wanted", "weak", "data"} <= {name for name, *_ in expected}


NAMES = """
__attribute__((weak)) void __msan_init(void);
void __tsan_init(void);
static void *mi_malloc(unsigned long size) { return (void *)size; }
__attribute__((visibility("hidden")))
void *tc_malloc(unsigned long size) { return mi_malloc(size); }
__attribute__((visibility("protected")))
void *sn_malloc(unsigned long size) { return tc_malloc(size); }
__attribute__((weak)) void *malloc(unsigned long size) {
  if (__msan_init) __msan_init();
  __tsan_init();
  return sn_malloc(size);
}
void *(*je_malloc)(unsigned long) = malloc;
"""


def test_a_name_that_is_there_is_not_a_function_that_is_there(tmp_path: Path) -> None:
    """It may be data, a reference that nothing has to meet, or a function that no one else sees."""
    source, library = tmp_path / "names.c", tmp_path / "names.so"
    source.write_text(NAMES)
    subprocess.run(
        [
            "gcc",
            "-O0",
            "-fno-builtin",
            "-w",
            "-fPIC",
            "-shared",
            "-nostdlib",
            source,
            "-o",
            library,
        ],
        check=True,
    )
    facts = read_elf(library, symbols=True)
    assert facts is not None
    assert facts.exported == {"malloc", "sn_malloc"}
    assert facts.defined == {"malloc", "sn_malloc", "tc_malloc", "mi_malloc"}
    assert facts.wanted == {"__tsan_init"}


def linked(folder: Path, *flags: str, compiler: str = "gcc") -> Path:
    source, library = folder / "some.c", folder / "some.so"
    source.write_text(SOURCE)
    subprocess.run(
        [compiler, "-w", "-fPIC", "-shared", "-nostdlib", *flags, source, "-o", library], check=True
    )
    return library


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        ("gcc", ["-m64"]),
        ("gcc", ["-m32"]),
        ("aarch64-linux-gnu-gcc", []),
        ("gcc", ["-Wl,--build-id=md5"]),
        ("gcc", ["-Wl,--build-id=none"]),
    ],
)
def test_a_build_id_is_that_which_elftools_finds(
    tmp_path: Path, compiler: str, flags: list[str]
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    library = linked(tmp_path, *flags, compiler=compiler)
    facts = read_elf(library)
    assert facts is not None
    assert (facts.build_id == "") == ("-Wl,--build-id=none" in flags)
    assert read_build_id(library) == facts.build_id


def test_a_build_id_is_found_behind_a_note_of_odd_length(tmp_path: Path) -> None:
    notes = r"""
.section .note.both, "a", @note
.long 6, 3, 9
.asciz "OTHER"
.balign 4
.byte 1, 2, 3
.balign 4
.long 4, 2, 3
.asciz "GNU"
.byte 0xAB, 0xCD
.balign 4
"""
    source, library = tmp_path / "notes.s", tmp_path / "notes.so"
    source.write_text(notes)
    subprocess.run(
        ["gcc", "-shared", "-nostdlib", "-Wl,--build-id=none", source, "-o", library], check=True
    )
    facts = read_elf(library)
    assert facts is not None
    assert read_build_id(library) == facts.build_id == "abcd"


def test_build_ids_of_this_machine_are_those_that_elftools_finds() -> None:
    for path in (system_library(), sys.executable, "/bin/sh"):
        facts = read_elf(path)
        assert facts is not None
        assert read_build_id(path) == facts.build_id


def test_a_damaged_file_has_no_build_id(tmp_path: Path) -> None:
    whole = linked(tmp_path).read_bytes()
    damaged = tmp_path / "damaged.so"
    for length in (0, 3, 5, 40, 63, 64, 100, 300):
        damaged.write_bytes(whole[:length])
        assert read_build_id(damaged) == ""
    # No class, no order of bytes, headers of segments that are far away, and headers without size.
    for place, new in (
        (4, b"\0"),
        (5, b"\7"),
        (32, b"\xff" * 7 + b"\0"),
        (32, b"\xff" * 8),
        (54, b"\0\0"),
    ):
        damaged.write_bytes(whole[:place] + new + whole[place + len(new) :])
        assert read_build_id(damaged) == ""
    # A segment of notes that claims to be longer than all memory, and lies where it lay.
    header = next(at for at in range(64, 64 + 56 * 16, 56) if whole[at] == 4)
    claims = whole[: header + 32] + b"\xff" * 7 + b"\x3f" + whole[header + 40 :]
    damaged.write_bytes(claims)
    assert read_build_id(damaged) == read_build_id(linked(tmp_path)) != ""
    damaged.write_text("no ELF file, but as long as the header of one, which is 64 bytes")
    assert read_build_id(damaged) == ""
