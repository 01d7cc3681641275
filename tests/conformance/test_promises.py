"""Every item of the catalogue, under Heapwise and under the C library, which is the oracle."""

from __future__ import annotations

import xml.etree.ElementTree
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from conformance import table
from conformance.build import USUAL, VARIANTS, Variant, compile_one
from conformance.items import ITEMS, PROGRAMS, SLOW, broken
from conformance.observe import Sight, look

Look = Callable[..., Mapping[str, Sight]]
PLUGINS = Path(__file__).parent / "plugins"


@pytest.mark.parametrize("item", ITEMS)
def test_heapwise_keeps(item: str, library: Path, sights: Look) -> None:
    assert broken(item, sights(library)) == []


@pytest.mark.parametrize("item", ITEMS)
def test_the_oracle_agrees(item: str, sights: Look) -> None:
    """What we demand and the host's C library does not do has to say why."""
    assert broken(item, sights(None), by_peer=True) == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_program_ends_well(program: str, library: Path, sights: Look) -> None:
    assert sights(library)[program].trouble == ""


KEPT = {"g++ -O2 -D_FORTIFY_SOURCE=3", "clang++-19 -O3 -flto"}
WAYS = [
    variant if variant.name in KEPT else pytest.param(variant, marks=pytest.mark.long)
    for variant in VARIANTS
    if variant != USUAL
]
"""One of each compiler in `make test`, all in `make test-long`."""

QUICK = {item for program, items in PROGRAMS.items() if program not in SLOW for item in items}


@pytest.mark.parametrize("variant", WAYS, ids=lambda variant: f"B1-21 {variant.name}")
def test_however_it_is_compiled(variant: Variant, library: Path, sights: Look) -> None:
    seen = sights(library, variant)
    found = [line for number in sorted(QUICK) for line in broken(f"B1-{number}", seen)]
    assert found + [sight.trouble for sight in seen.values() if sight.trouble] == []


def test_B1_19_under_an_auditor(library: Path, folder_of: Callable[[Variant], Path]) -> None:
    """The loader's auditor has a C library of its own; it does not use the program's malloc."""
    folder = folder_of(USUAL)
    auditor = {"LD_AUDIT": str(folder / "auditor.so")}
    for program in ("lifetime", "resolver", "sizes"):
        sight = look(folder / program, library, str(folder), more=auditor)
        assert sight.trouble == ""
        assert [row for row in sight.rows if not row.holds] == []


def test_B1_19_in_an_auditor(
    library: Path, folder_of: Callable[[Variant], Path], tmp_path: Path
) -> None:
    """An auditor linked with the library brings a second copy of it into the process."""
    auditor = tmp_path / "auditor.so"
    link = ("-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{library.parent}")
    compile_one(USUAL, PLUGINS / "auditor.cpp", auditor, "-shared", "-fPIC", *link)
    folder = folder_of(USUAL)
    sight = look(folder / "sizes", library, str(folder), more={"LD_AUDIT": str(auditor)})
    assert sight.trouble == ""
    assert [row for row in sight.rows if not row.holds] == []


def test_B1_20_malloc_info_is_xml(
    library: Path, folder_of: Callable[[Variant], Path], tmp_path: Path
) -> None:
    assert look(folder_of(USUAL) / "control", library, str(tmp_path)).trouble == ""
    root = xml.etree.ElementTree.parse(tmp_path / "malloc_info.xml").getroot()
    assert root.tag == "malloc"
    assert len(root) > 0


def test_the_differences_are_published(library: Path, sights: Look) -> None:
    """docs/differences-from-glibc.md is what tools/differences makes."""
    published = table.PAGE.read_text(encoding="utf-8")
    if table.version() not in published:
        pytest.skip(f"the page is about another C library than {table.version()}")
    assert published == table.page(sights(None).values(), sights(library).values())
