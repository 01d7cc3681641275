"""What lies beside a program, and what it may load: its libraries, plug-ins and modules.

Data beside it is not looked at: a program may write it in each run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MOST = 200
MOST_ENTRIES = 5_000
"""If a folder has more, for example a home folder, nobody knows which belong to the program."""

OF_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/sbin")
"""Packages do not change between two invocations, and have thousands of files."""

LIBRARY = ".so"


def loadable_beside(program: Path) -> list[Path]:
    """Shared libraries in the program's folder and below it, and for a script also files with its
    suffix. Of a program in a folder ``bin`` also what lies beside that folder. Empty for a program
    of the system, and where there are too many files."""
    top = program.parent.parent if program.parent.name == "bin" else program.parent
    if any(program.is_relative_to(folder) for folder in OF_SYSTEM):
        return []
    found: list[Path] = []
    for number, path in enumerate(_files(top)):
        if number == MOST_ENTRIES or len(found) > MOST:
            return []
        if path != program and (LIBRARY in path.suffixes or path.suffix == program.suffix != ""):
            found.append(path)
    return found if len(found) <= MOST else []


def _files(top: Path) -> Iterator[Path]:
    """In no hidden folder."""
    for folder, inner, names in os.walk(top):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(names))
