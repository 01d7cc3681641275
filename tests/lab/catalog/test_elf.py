"""Symbols are read without elftools, which is too slow for that: it says what they are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from heapwise.catalog.elf import symbols_of

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
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-w", *flags, *([] if linked else ["-c"]),
                    source, "-o", linked_file], check=True)
    with linked_file.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".dynsym" if linked else ".symtab")
        expected = [(s.name, s["st_value"], s["st_size"], KINDS[s["st_info"]["type"]],
                     s["st_shndx"] == "SHN_UNDEF") for s in table.iter_symbols()]
        names = {name.encode() for name, *_ in expected}
        found = [(s.name, s.address, s.size, s.kind, s.section == 0)
                 for s in symbols_of(table, names)]
        assert found == expected
        assert [s.name for s in symbols_of(table, {b"malloc"})] == ["malloc"]
    assert {"malloc", "wanted", "weak", "data"} <= {name for name, *_ in expected}
