"""The formats of this folder, by name."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import heapwise.report.formats


def find_formats() -> dict[str, ModuleType]:
    """``csv``, ``google-benchmark``, ... -> module, sorted by name."""
    modules = [
        importlib.import_module(f"heapwise.report.formats.{found.name}")
        for found in pkgutil.iter_modules(heapwise.report.formats.__path__)
    ]
    named = {module.NAME: module for module in modules if hasattr(module, "NAME")}
    return dict(sorted(named.items()))
