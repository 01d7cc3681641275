"""Every document is reached from the README by links: a page that none leads to is not found."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from docs.links import LINK, without_code
from docs.tree import TextFile

FIRST = "README.md"
FOLDER = "docs/"


def offences(files: Iterable[TextFile]) -> Iterator[str]:
    """A sentence for each document of ``docs/`` that no link leads to. A link to a folder leads to
    its README."""
    pages = {file.name: file for file in files if file.name.endswith(".md")}
    reached: set[str] = set()
    waiting = [FIRST]
    while waiting:
        name = waiting.pop()
        if name in pages and name not in reached:
            reached.add(name)
            waiting += _targets(pages[name], pages)
    for name in sorted(pages):
        if name.startswith(FOLDER) and name not in reached:
            yield f"{name}: no link leads here from {FIRST}"


def _targets(file: TextFile, pages: dict[str, TextFile]) -> Iterator[str]:
    folder = PurePosixPath(file.name).parent
    for match in LINK.finditer(without_code(file.text)):
        target = os.path.normpath(folder / match[1].partition("#")[0])
        if target in pages:
            yield target
        elif f"{target}/README.md" in pages:
            yield f"{target}/README.md"
