"""Packages load a module when one of its names is asked for, and have every name that they list."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import heapwise

LAZY = ("catalog", "model", "runner", "trace")


def _loaded_by(statement: str) -> set[str]:
    said = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys\nprint(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(said.stdout.split())


@pytest.mark.parametrize("name", LAZY)
def test_a_package_has_every_name_that_it_lists(name: str) -> None:
    package = importlib.import_module(f"heapwise.{name}")
    assert all(getattr(package, each) is not None for each in package.__all__)


@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_name_is_not_that_of_a_module(name: str) -> None:
    folder = Path(heapwise.__file__).parent / name
    modules = {each.stem for each in folder.iterdir()}
    lazy = [
        alias.name
        for block in ast.parse((folder / "__init__.py").read_text()).body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    ]
    assert lazy
    assert not modules & set(lazy)


def test_an_unknown_name_of_a_package_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"heapwise\.runner.*nothing_of_this_name"):
        _ = importlib.import_module("heapwise.runner").nothing_of_this_name


def test_recording_loads_nothing_that_judges_or_counts() -> None:
    loaded = _loaded_by("import heapwise.runner.recording, heapwise.cli.frame.tell.process_text")
    assert "heapwise.trace.recording_texts" in loaded
    assert not {"numpy", "heapwise.stats", "heapwise.evidence", "elftools"} & loaded


def test_a_look_at_a_trace_loads_no_page() -> None:
    loaded = _loaded_by(
        "import heapwise.cli.trace, heapwise.trace.contents, heapwise.cli.frame.tell.trace_text"
    )
    assert "numpy" in loaded
    assert not {"jinja2", "scipy", "heapwise.report", "heapwise.analysis"} & loaded
