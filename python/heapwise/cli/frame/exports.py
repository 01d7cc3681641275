"""``--export FILE``: the result as a file of the kind that its name ends with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.errors import Problem

if TYPE_CHECKING:
    from heapwise.evidence import Evidence

KINDS = {".json": "json", ".csv": "csv", ".md": "markdown", ".html": "html"}


def demand_exports(paths: Sequence[Path]) -> None:
    """Before anything is measured. Problems: E003 for another kind, E050 if it cannot be written.
    """
    for path in paths:
        if path.suffix not in KINDS:
            raise Problem("E003", f"--export {path}: a name ends with {', '.join(KINDS)}",
                          do="--export result.md")
        try:
            path.open("a").close()
        except OSError as error:
            raise Problem("E050", f"{path} cannot be written: {error.strerror}",
                          do="--export FILE in a folder that you may write") from error


def write_exports(evidence: Evidence, paths: Sequence[Path]) -> list[str]:
    """The names of what was written. Problem E050 if one cannot be."""
    from heapwise.report import View, build_page
    from heapwise.report.formats import find_formats

    view = View(evidence)
    for path in paths:
        kind = KINDS[path.suffix]
        text = build_page([view]) if kind == "html" else find_formats()[kind].write(view)
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise Problem("E050", f"{path} cannot be written: {error.strerror}",
                          why="The run itself is safe.",
                          do="heapwise report or heapwise export writes it again") from error
    return [str(path) for path in paths]
