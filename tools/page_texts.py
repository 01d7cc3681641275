"""Writes what experiments say of themselves into their pages, whose figures stay as they are.

Usage: page_texts.py [FOLDER]      docs/experiments, if no folder is given

A page has figures of one run, and texts of the experiment: its question, what it isolates, what it
does not show, what it teaches. The texts may change without the loop that was measured.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from heapwise.catalog import find_experiments
from heapwise.document.markdown import markdown
from heapwise.model import Experiment
from heapwise.report.pages.experiment_page import limits

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "experiments"

QUESTION = re.compile(r"^\*\*.*\*\*$", re.MULTILINE)
ISOLATES = re.compile(r"^## What it isolates\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
LIMITS = re.compile(
    r"^## What it does not show\n.*?(?=^## How it was measured$)", re.MULTILINE | re.DOTALL
)


def with_texts(page: str, experiment: Experiment) -> str:
    """ValueError if the page lacks one of the parts."""
    parts = (
        (QUESTION, f"**{experiment.question}**"),
        (ISOLATES, f"## What it isolates\n\n{experiment.isolates}\n\n"),
        (LIMITS, "\n".join(markdown(limits(experiment))) + "\n"),
    )
    for part, text in parts:
        found = part.search(page)
        if found is None:
            raise ValueError(f"the page of {experiment.id} has no part like {part.pattern}")
        page = page[: found.start()] + text + page[found.end() :]
    return page


def main(folder: Path) -> None:
    for experiment in find_experiments():
        path = folder / f"{experiment.id}.md"
        if not path.is_file():
            continue
        old = path.read_text("utf-8")
        new = with_texts(old, experiment)
        if new != old:
            path.write_text(new, "utf-8")
            print(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGES)
