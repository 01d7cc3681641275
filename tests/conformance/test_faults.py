"""Every item finds the fault that is planted for it, and nothing where none is planted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from conformance.build import USUAL, Variant, compile_one
from conformance.items import ITEMS, broken, programs_of
from conformance.observe import Sight, look

PLANTED = Path(__file__).parent / "faults" / "planted.cpp"
BORROWED = "B1-18"
"""What the planted malloc gives is the C library's, which is a fault of its own."""

Plant = Callable[..., Mapping[str, Sight]]


@pytest.fixture(scope="module")
def under(folder_of: Callable[[Variant], Path], tmp_path_factory: pytest.TempPathFactory) -> Plant:
    """What the programs of an item see under the malloc with that item's fault, or with none."""
    folder = tmp_path_factory.mktemp("faults")

    @cache
    def planted(fault: int) -> Path:
        library = folder / f"fault{fault}.so"
        options = (f"-DFAULT={fault}", "-shared", "-fPIC", "-fno-builtin")
        compile_one(USUAL, PLANTED, library, *options)
        return library

    def see(item: str, *, sound: bool = False) -> Mapping[str, Sight]:
        library = planted(0 if sound else int(item.removeprefix("B1-")))
        programs = folder_of(USUAL)
        return {name: look(programs / name, library, str(folder)) for name in programs_of(item)}

    return see


@pytest.mark.parametrize("item", ITEMS)
def test_the_fault_is_found(item: str, under: Plant) -> None:
    assert broken(item, under(item)) != []


@pytest.mark.parametrize("item", [item for item in ITEMS if item != BORROWED])
def test_where_there_is_no_fault_none_is_found(item: str, under: Plant) -> None:
    assert broken(item, under(item, sound=True)) == []


def test_a_library_that_is_not_loaded_is_noticed(
    folder_of: Callable[[Variant], Path], tmp_path: Path
) -> None:
    """The loader says so on standard error and goes on, with the C library's malloc."""
    missing = tmp_path / "missing.so"
    sight = look(folder_of(USUAL) / "sizes", missing)
    assert "malloc was that of" in sight.trouble
