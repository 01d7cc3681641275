"""Outside the package of wording nobody spells names again or looks for the nearest name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3] / "python/heapwise"
SPACING = ["_", " "]


def test_only_one_function_puts_spaces_for_underscores() -> None:
    assert {
        path
        for path, call in _calls()
        if _name(call) == "replace"
        and [a.value for a in call.args if isinstance(a, ast.Constant)] == SPACING
    } == {"wording/names.py"}


def test_only_one_function_looks_for_the_nearest_name() -> None:
    assert {path for path, call in _calls() if _name(call) == "get_close_matches"} == {
        "wording/suggest.py"
    }
    assert {
        path
        for path, node in _nodes()
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "difflib" in ast.unparse(node)
    } == {"wording/suggest.py"}


def test_only_one_function_has_the_sign_of_a_negative_percentage() -> None:
    assert {
        path
        for path, call in _calls()
        if _name(call) == "replace"
        and [a.value for a in call.args if isinstance(a, ast.Constant)] == ["-", "−"]
    } == {"wording/numbers.py"}


def test_no_function_of_wording_has_a_namesake() -> None:
    functions = [
        (path, node.name)
        for path, tree in _trees()
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    ]
    worded = {name for path, name in functions if path.startswith("wording/")}
    assert [
        (path, name)
        for path, name in functions
        if name in worded and not path.startswith("wording/")
    ] == [("cli/frame/watched_campaign.py", "show")]  # shows a run


@cache
def _trees() -> list[tuple[str, ast.Module]]:
    return [
        (str(path.relative_to(PACKAGE)), ast.parse(path.read_text()))
        for path in sorted(PACKAGE.rglob("*.py"))
    ]


def _nodes() -> Iterator[tuple[str, ast.AST]]:
    return ((path, node) for path, tree in _trees() for node in ast.walk(tree))


def _calls() -> Iterator[tuple[str, ast.Call]]:
    return ((path, node) for path, node in _nodes() if isinstance(node, ast.Call))


def _name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
