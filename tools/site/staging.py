"""Copies the documents to where Sphinx reads them, and adapts their links to the site."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path, PurePosixPath

TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "schema/README.md")
LISTED = ("docs/how-to", "docs/results", "docs/experiments")
"""Folders whose documents are not in the navigation: a page lists them, or their README."""
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^ *(`{3,}).*?^ *\1[ \t]*$", re.MULTILINE | re.DOTALL)


def public_headers(root: Path) -> list[str]:
    """The headers that users include, as they write them: `heapwise/pool.hpp`."""
    include = root / "include"
    found = (path.relative_to(include) for path in include.rglob("*.h*"))
    return sorted(str(path) for path in found if "detail" not in path.parts)


def stage(root: Path, pages: Path) -> None:
    """Effects: ``pages`` has a copy of every document and of the pictures beside them, and a list
    of each folder of documents that has no README."""
    documents = [root / name for name in TOP]
    documents += (path for path in (root / "docs").rglob("*") if path.is_file())
    known = {str(path.relative_to(root)) for path in documents}
    known |= {
        f"{folder}/contents.rst" for folder in LISTED if not (root / folder / "README.md").is_file()
    }
    for path in documents:
        name = str(path.relative_to(root))
        copy = pages / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            copy.write_text(adapt(path.read_text(encoding="utf-8"), name, known))
        else:
            shutil.copy(path, copy)


def adapt(text: str, name: str, known: set[str]) -> str:
    """``text`` of the document ``name`` with links that lead somewhere on the site.

    A file that is not on the site (a source file) is named beside the words of its link.
    """
    folder = str(PurePosixPath(name).parent)

    def changed(link: re.Match[str]) -> str:
        words, target, anchor = link[2], link[3], link[4] or ""
        if re.match(r"[a-z]+:", target):
            return link[0]
        path = os.path.normpath(f"{folder}/{target}")
        if path in known:
            return link[0]
        for list_of_folder in ("README.md", "contents.rst"):
            if f"{path}/{list_of_folder}" in known:
                return f"[{words}]({target.rstrip('/')}/{list_of_folder}{anchor})"
        plain = words.replace("`", "")
        return words if path.endswith(plain) else f"{words} (`{path}`)"

    pieces, end = [], 0
    for fence in FENCE.finditer(text):
        pieces += [LINK.sub(changed, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, LINK.sub(changed, text[end:])])
