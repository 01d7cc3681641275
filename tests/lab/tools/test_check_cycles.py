"""check_cycles.py finds the modules that import each other, and there are none."""

from __future__ import annotations

from pathlib import Path

import check_cycles


def package(folder: Path, **modules: str) -> Path:
    """A package with these modules."""
    root = folder / "made"
    root.mkdir()
    (root / "__init__.py").write_text("")
    for name, text in modules.items():
        (root / f"{name}.py").write_text(text)
    return root


def found(root: Path) -> list[list[str]]:
    return check_cycles.cycles(check_cycles.imports_of(root))


def test_modules_that_import_in_one_direction_are_not_a_cycle(tmp_path: Path) -> None:
    root = package(tmp_path, a="from made import b, c\n", b="import made.c\n", c="")
    assert found(root) == []


def test_an_import_for_types_closes_a_cycle(tmp_path: Path) -> None:
    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made.b import B\n"
    assert found(package(tmp_path, a=for_types, b="from made import a\n")) == [["made.a", "made.b"]]


def test_an_import_inside_a_function_closes_a_cycle(tmp_path: Path) -> None:
    root = package(
        tmp_path,
        a="from made.b import x\n",
        b="from made.c import x\n",
        c="def f():\n    from made.a import y\n",
    )
    assert found(root) == [["made.a", "made.b", "made.c"]]


def test_no_module_of_the_laboratory_imports_itself() -> None:
    assert found(check_cycles.PACKAGE) == []
