"""Pages that would take the place of pages with more figures."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path

from heapwise.errors import Problem

WHY = "This run measured less than the one that the page is of."
FIGURES = re.compile(r"^## Figures\n(.*?)^## ", re.MULTILINE | re.DOTALL)
"""The part of an experiment's page that has a line for each figure, or for each cell."""


def refuse_fewer_figures(files: Mapping[str, str], folder: Path) -> None:
    """Problem E003 if a page would have fewer figures of ours than the one that it replaces: a
    partial run must not take the place of a whole one."""
    for name, text in files.items():
        old = folder / name
        if not name.endswith("/figures.csv") or not old.is_file():
            continue
        before, now = _figures_in(old.read_text(encoding="utf-8")), _figures_in(text)
        if now < before:
            raise Problem(
                "E003",
                f"{old.parent} would lose {before - now} of its {before} figures",
                why=WHY,
                do=f"measure all of it, or remove {old.parent} first",
            )


def _figures_in(table: str) -> int:
    return sum(bool(line["ours"]) for line in csv.DictReader(io.StringIO(table)))


def refuse_smaller_pages(files: Mapping[str, str], folder: Path) -> None:
    """Problem E003 if the page of an experiment would have fewer lines of figures than the one that
    it replaces."""
    smaller = []
    for name, text in files.items():
        old = folder / name
        if not name.endswith(".md") or not old.is_file():
            continue
        before, now = _lines_in(old.read_text(encoding="utf-8")), _lines_in(text)
        if now < before:
            smaller.append(f"{name} ({now} of {before} lines)")
    if smaller:
        raise Problem(
            "E003",
            f"pages in {folder} would lose figures: {', '.join(smaller)}",
            why=WHY,
            do="measure all of it, or export to a folder of its own",
        )


def _lines_in(page: str) -> int:
    """Lines of the tables with figures, their heads left out."""
    found = FIGURES.search(page)
    if found is None:
        return 0
    lines = str(found[1]).splitlines()
    heads = sum(line.startswith("| ---") for line in lines)
    return sum(line.startswith("|") for line in lines) - 2 * heads
