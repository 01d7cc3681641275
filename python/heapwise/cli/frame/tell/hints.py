"""Commands in hints work as they are printed, wherever the run is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from heapwise.errors import Problem
from heapwise.store import find_store
from heapwise.store.location import RUNS


def complete(text: str, folder: Path) -> str:
    """``heapwise resume 7f3a`` in ``text`` with the place of the run, if it would not be found."""
    reference = _reference(folder)
    return re.sub(
        rf"\b(heapwise (?:resume|report|export)) {re.escape(folder.name)}\b",
        lambda found: f"{found[1]} {reference}",
        text,
    )


def _reference(folder: Path) -> str:
    if folder.parent.name != RUNS:
        return shlex.quote(str(folder))
    store = folder.parent.parent
    try:
        usual = find_store()
    except Problem:
        usual = None
    return folder.name if store == usual else f"{folder.name} --store {shlex.quote(str(store))}"
