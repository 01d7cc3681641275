"""The libraries that the loader loads for a program, as it says itself."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from heapwise.catalog.elf import ElfFacts, exports_function
from heapwise.model import LIBRARY_PATH

C_LIBRARY = "libc.so.6"
LONGEST_S = 10.0
FOUND_AT = re.compile(r"^\s*(?:(\S+) => )?(\S+) \(0x")
"""A line of the loader's list: a library's name, unless it is a path, and its file."""


def linked_allocator(image: Path, facts: ElfFacts) -> str:
    """The file name of the library whose malloc the program gets: one that stands before the C
    library and exports a malloc. "" if there is none, and if the loader does not say it.

    image: a program, of which nothing is executed.
    """
    if not facts.interpreter or C_LIBRARY not in (files := _loaded(image, facts.interpreter)):
        return ""
    for name, file in files.items():
        if name == C_LIBRARY:
            break
        if exports_function(file, "malloc"):
            return name
    return ""


def _environment() -> dict[str, str]:
    """The user's, without what measured programs do not get: a library that the user preloads."""
    left = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("LD_") or name == LIBRARY_PATH
    }
    return left | {"LC_ALL": "C"}


def _loaded(image: Path, loader: str) -> dict[str, Path]:
    """Name -> file, in the order of the search for symbols."""
    try:
        done = subprocess.run(
            [loader, "--list", str(image)],
            env=_environment(),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    lines = (FOUND_AT.match(line) for line in done.stdout.splitlines())
    return {Path(found[1] or found[2]).name: Path(found[2]) for found in lines if found}
