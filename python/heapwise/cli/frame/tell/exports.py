"""``--export FILE``: the result as a file of the kind that its name ends with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.cli.frame.tell.written_files import demand_writable, write_text
from heapwise.errors import Problem

if TYPE_CHECKING:
    from heapwise.evidence import Evidence

KINDS = {".bmf.json": "bencher", ".json": "json", ".csv": "csv", ".md": "markdown", ".html": "html"}
"""The end of a name -> a format; the longest end is the first."""

OF_A_GATE = (".xml", ".sarif")
"""JUnit and SARIF say what failed, and in a comparison nothing can fail: it has no limits."""


def demand_exports(paths: Sequence[Path]) -> None:
    """Before anything is measured. Problems: E003 for another kind, E050 if it cannot be
    written."""
    for path in paths:
        if path.suffix in OF_A_GATE:
            raise Problem(
                "E003",
                f"--export {path}: a comparison has no limits, so nothing in it passes or fails",
                why="JUnit and SARIF list what failed.",
                do=f"heapwise gate --base ./old --new ./new --limit time=3% --export {path}",
            )
        if not kind_of(path):
            raise Problem(
                "E003",
                f"--export {path}: a name ends with {', '.join(KINDS)}",
                do="--export result.md",
            )
        demand_writable(path, "--export")


def kind_of(path: Path) -> str:
    """``""`` for a name that ends with none of ``KINDS``."""
    return next((kind for end, kind in KINDS.items() if path.name.endswith(end)), "")


def write_exports(evidence: Evidence, paths: Sequence[Path]) -> list[str]:
    """The names of what was written. Problem E050 if one cannot be."""
    from heapwise.report import View, build_page
    from heapwise.report.formats import find_formats

    view = View(evidence)
    for path in paths:
        kind = kind_of(path)
        text = build_page([view]) if kind == "html" else find_formats()[kind].write(view)
        write_text(path, text, "--export")
    return [str(path) for path in paths]
