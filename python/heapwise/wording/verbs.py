"""The verbs of the command line."""

from __future__ import annotations

import pkgutil
from pathlib import Path

VERBS = Path(__file__).resolve().parents[1] / "cli"


def verb_names() -> list[str]:
    """Every module of the folder that is not a package is a verb, which has the same name."""
    return sorted(module.name for module in pkgutil.iter_modules([str(VERBS)]) if not module.ispkg)
