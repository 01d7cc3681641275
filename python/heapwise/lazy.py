"""A package whose names are imported when they are first asked for.

Each verb then loads only the modules that it needs: a command that records a program does not load
what judges a measurement.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def lazy_names(package: str, file: str) -> Callable[[str], object]:
    """The function ``__getattr__`` of a package (PEP 562).

    Its ``__init__.py`` has the imports in a block ``if TYPE_CHECKING``, where type checkers and
    import-linter read them. A name that is also a module of the package cannot be among them: an
    import of that module would take its place. The names are read from the file once.
    """
    modules: dict[str, str] = {}

    def find(name: str) -> object:
        if not modules:
            modules.update(_imports(Path(file).read_text(encoding="utf-8")))
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return find


def _imports(text: str) -> dict[str, str]:
    """The module of each name that is imported in the block ``if TYPE_CHECKING``."""
    return {
        alias.name: statement.module
        for block in ast.parse(text).body
        if isinstance(block, ast.If)
        and isinstance(block.test, ast.Name)
        and block.test.id == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }
