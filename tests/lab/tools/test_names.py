"""Parameters and variables of Python have nouns for names."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NOT_NOUNS = {"of", "given", "yields", "made", "gone"}


def offences(name: str, text: str) -> Iterator[str]:
    """``name:line: word`` for each parameter, and each variable that is not a field of a class."""
    tree = ast.parse(text)
    fields = {id(statement.target) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
              for statement in node.body if isinstance(statement, ast.AnnAssign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.arg in NOT_NOUNS:
            yield f"{name}:{node.lineno}: {node.arg}"
        elif (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
              and node.id in NOT_NOUNS and id(node) not in fields):
            yield f"{name}:{node.lineno}: {node.id}"


def test_no_parameter_and_no_variable_is_a_preposition_or_a_participle() -> None:
    listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "*.py"], capture_output=True,
                             text=True, check=False)
    names = [name for name in listing.stdout.split() if (ROOT / name).is_file()] or [
        str(path.relative_to(ROOT)) for folder in ("python", "tests", "tools")
        for path in (ROOT / folder).rglob("*.py")]
    assert [found for name in sorted(names)
            for found in offences(name, (ROOT / name).read_text())] == []


@pytest.mark.parametrize("text", [
    "def size(of):\n    pass\n",
    "def size(*, given):\n    pass\n",
    "made = 1\n",
    "for gone in ():\n    pass\n",
    "names = [of for of in ()]\n",
    "kept, yields = 1, 2\n",
])
def test_a_planted_name_is_found(text: str) -> None:
    [line] = offences("a.py", text)
    assert line.startswith("a.py:1: ")


@pytest.mark.parametrize("text", [
    "class Cell:\n    made: str\n",
    "class Cell:\n    def of(self):\n        return self.given\n",
    "counts = 'of', 'made'\n",
])
def test_fields_and_functions_are_left_alone(text: str) -> None:
    assert list(offences("a.py", text)) == []
