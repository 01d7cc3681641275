"""Parameters, variables and fields of Python have nouns for names."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NOT_NOUNS = {"of", "given", "yields", "made", "gone"}

STORED = {"AddedPeer.made", "TreeRecord.made", "Expected.of", "Change.gone"}
"""Fields that users read in files and in --json."""

LEFT = {"Samples.made", "SampledStacks.gone"}
"""Fields of ``python/heapwise/trace``. The test fails if one of them is not there any more."""


def offences(name: str, text: str) -> Iterator[str]:
    """``name:line: word`` for each parameter, variable and field; a field with its class."""
    tree = ast.parse(text)
    classes = {
        id(statement.target): node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.arg in NOT_NOUNS:
            yield f"{name}:{node.lineno}: {node.arg}"
        elif (
            isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NOT_NOUNS
        ):
            field = f"{classes[id(node)]}.{node.id}" if id(node) in classes else node.id
            if field not in STORED:
                yield f"{name}:{node.lineno}: {field}"


def test_no_parameter_no_variable_and_no_field_is_a_preposition_or_a_participle() -> None:
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "*.py"], capture_output=True, text=True, check=False
    )
    names = [name for name in listing.stdout.split() if (ROOT / name).is_file()] or [
        str(path.relative_to(ROOT))
        for folder in ("python", "tests", "tools")
        for path in (ROOT / folder).rglob("*.py")
    ]
    every = [found for name in sorted(names) for found in offences(name, (ROOT / name).read_text())]
    assert [line for line in every if line.split(": ")[1] not in LEFT] == []
    assert {line.split(": ")[1] for line in every} == LEFT


@pytest.mark.parametrize(
    "text",
    [
        "def size(of):\n    pass\n",
        "def size(*, given):\n    pass\n",
        "made = 1\n",
        "for gone in ():\n    pass\n",
        "names = [of for of in ()]\n",
        "kept, yields = 1, 2\n",
        "class Cell: made: str\n",
    ],
)
def test_a_planted_name_is_found(text: str) -> None:
    [line] = offences("a.py", text)
    assert line.startswith("a.py:1: ")


@pytest.mark.parametrize(
    "text",
    [
        "class AddedPeer:\n    made: str\n",
        "class Cell:\n    def of(self):\n        return self.given\n",
        "counts = 'of', 'made'\n",
    ],
)
def test_stored_fields_and_functions_are_left_alone(text: str) -> None:
    assert list(offences("a.py", text)) == []
