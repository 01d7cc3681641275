"""One name of a type, one module."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3] / "python/heapwise"

ONE_THING = {"Row", "Cell", "Line", "Record"}
"""Row: a line of figures. Cell: a quantity of a setup. Line: a line of a printed table. Record:
facts of a line that a native program wrote."""

STILL_TWICE = {"Outcome"}
"""Names that are not unique yet. The test fails if one is added, and if one that is unique by now
was not taken out."""


def test_no_type_has_the_name_of_one_in_another_module() -> None:
    assert {name for name, modules in _types().items() if len(modules) > 1} == STILL_TWICE


def test_the_words_of_the_glossary_are_types_of_one_module() -> None:
    types = _types()
    assert {name: len(types[name]) for name in ONE_THING} == dict.fromkeys(ONE_THING, 1)


def _types() -> dict[str, list[Path]]:
    modules: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in _declared(ast.parse(path.read_text())):
            modules[name].append(path)
    return modules


def _declared(tree: ast.Module) -> Iterator[str]:
    """Classes, and other names of types: those that begin with a capital and are not constants."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[0].isupper() and not name.isupper():
                yield name
