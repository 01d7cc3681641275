"""Links between the documents lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docs.tree import TextFile, line_of

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
SOURCE = re.compile(r"<(?:img|source)[^>]*\b(?:src|srcset)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+\s+(.+?)\s*#*$", re.MULTILINE)
CODE = re.compile(r"^ *(`{3,})[^\n]*\n.*?^ *\1[ \t]*$|^(?: {4}|\t)[^\n]*$|`[^`\n]*`", re.M | re.S)


def slug(heading: str) -> str:
    """The anchor that a heading gets."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.replace(" ", "-")


def without_code(text: str) -> str:
    """The text with its code blanked out, lines kept."""
    return CODE.sub(lambda match: "\n" * match[0].count("\n"), text)


def anchors(text: str) -> set[str]:
    """Every anchor of a document."""
    return {slug(match[1]) for match in HEADING.finditer(text)}


def offences(file: TextFile) -> Iterator[str]:
    """A sentence for each link of a Markdown file that leads nowhere."""
    if not file.name.endswith(".md"):
        return
    prose = without_code(file.text)
    for match in (*LINK.finditer(prose), *SOURCE.finditer(prose)):
        target, _, anchor = match[1].partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        where = f"{file.name}:{line_of(prose, match.start())}"
        path = file.folder / target if target else file.root / file.name
        if not path.exists():
            yield f"{where}: {target} does not exist"
        elif anchor and anchor not in anchors(path.read_text(encoding="utf-8")):
            yield f"{where}: {target or file.name} has no heading #{anchor}"
