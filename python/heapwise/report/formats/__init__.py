"""One file per export format: NAME, SUFFIX, MIME, ABOUT and ``write(view)``, text out."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

__all__ = ["find_formats"]


def find_formats() -> dict[str, ModuleType]:
    """``csv``, ``google-benchmark``, ... -> module, sorted by name."""
    modules = [
        importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    ]
    named = {module.NAME: module for module in modules if hasattr(module, "NAME")}
    return dict(sorted(named.items()))
