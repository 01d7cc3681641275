"""The pages that are written from the code: headers, help, lists of documents."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from staging import LISTED

AREAS = (
    "heap",
    "protection",
    "collector",
    "pools",
    "statistics",
    "recording",
    "servers",
    "fleet",
    "store",
    "suite",
)
"""The pages of the design."""

FIRST = {
    "Start here": ("README", "docs/tutorial", "docs/how-to/contents"),
    "Reference": (
        "commands",
        "headers/index",
        "docs/settings",
        "docs/exit-codes",
        "docs/export",
        "docs/glossary",
    ),
    "What was measured": ("docs/results/README", "docs/methods", "docs/experiments/README"),
    "How it works": ("docs/architecture", "docs/how-it-works"),
    "Why it is so": tuple(f"docs/design/{area}" for area in AREAS),
}
"""What the navigation begins with, in this order: the words above a part, and its pages."""

OTHERS = "More"

SENTENCE = """Which memory allocator should my program use, and what does it gain, in time and
memory? Heapwise measures that on your machine, and has allocators of its own.

"""


def titled(title: str, mark: str = "=") -> str:
    return f"{title}\n{mark * len(title)}\n\n"


def header_page(header: str) -> str:
    """The page of one public header: what its contracts say."""
    # Breathe finds a file by its last name; a second file of that name would be a warning.
    return titled(header) + f".. doxygenfile:: {Path(header).name}\n"


def list_page(title: str, pages: list[str]) -> str:
    """A page that links to ``pages``, named from its own folder."""
    entries = "".join(f"   {page}\n" for page in pages)
    return titled(title) + ".. toctree::\n   :maxdepth: 1\n\n" + entries


def folder_lists(pages: Path) -> None:
    """Effects: writes ``contents.rst``, with links to its documents, for each folder that is listed
    and has no README. They are not in the navigation, of which every page has a copy: with 250 more
    entries three quarters of the time of a build went into it."""
    for folder in (pages / name for name in LISTED):
        if (folder / "README.md").is_file():
            continue
        found = sorted(
            str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.md")
        )
        title = folder.name.replace("-", " ").capitalize()
        links = "".join(f"- :doc:`{page}`\n" for page in found)
        (folder / "contents.rst").write_text(titled(title) + links)


def index_page(pages: Path) -> str:
    """The first page: the documents in the order of a first reading, then all others."""
    folders = tuple(f"{name}/" for name in LISTED)
    found = sorted(str(path.relative_to(pages).with_suffix("")) for path in pages.rglob("*.md"))
    listed = {page for part in FIRST.values() for page in part}
    others = [name for name in found if name not in listed and not name.startswith(folders)]
    text = titled("Heapwise") + SENTENCE
    for caption, part in {**FIRST, OTHERS: others}.items():
        text += f".. toctree::\n   :maxdepth: 1\n   :caption: {caption}\n\n"
        text += "".join(f"   {page}\n" for page in part) + "\n"
    return text


HELP = """
import json, sys
from contextlib import redirect_stdout
from io import StringIO
from heapwise.cli.frame.app import run
from heapwise.wording.verbs import verb_names

def shown(*words):
    said = StringIO()
    with redirect_stdout(said):
        if code := run([*words, "--help-all"]):
            sys.exit(code)
    return said.getvalue()

json.dump({verb: shown(*verb.split()) for verb in ("", *verb_names())}, sys.stdout)
"""
"""A program that prints the help of the command and of each verb. Loading them takes longest."""


def help_page(root: Path) -> str:
    """What `--help-all` of the command and of each verb prints."""
    text = titled("Commands")
    for verb, shown in run_help(root).items():
        name = f"heapwise {verb}".strip()
        block = "".join(f"   {line}".rstrip() + "\n" for line in shown.splitlines())
        text += titled(name, "-") + ".. code-block:: text\n\n" + block + "\n"
    return text


def run_help(root: Path) -> dict[str, str]:
    """Verb -> what the command prints, without colours and 100 columns wide; "" for its own."""
    python = os.environ["HEAPWISE_SITE_PYTHON"]
    settings = {"PYTHONPATH": str(root / "python"), "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        [python, "-c", HELP],
        env=os.environ | settings | {"TERM": "dumb"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return {verb: re.sub(r"\x1b\[[0-9;]*m", "", text) for verb, text in found.items()}
