"""The pages of the design: each has a table of contents, and is short; names of their headings in
sources lead somewhere. The links between documents are checked in links.py."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docs.links import HEADING, anchors, slug
from docs.tree import TextFile, line_of

FOLDER = "docs/design/"
MOST_WORDS = 6000
"""A longer page is not read. Superseded choices go, or become one line of what was rejected."""

WORD = re.compile(r"[^\s|]*\w[^\s|]*")
MENTION = re.compile(rf"(?<![\w/.]){FOLDER}([\w-]+\.md)(?:#([\w-]+))?")
CONTENTS = re.compile(r"^- \[[^\]]+\]\(#([\w-]+)\)$", re.MULTILINE)


def offences(file: TextFile) -> Iterator[str]:
    """A sentence for each broken promise of a page of the design, and of a mention of one."""
    if file.name.startswith(FOLDER) and file.name.endswith(".md"):
        yield from _of_page(file)
    if not file.name.endswith(".md"):
        yield from _of_mentions(file)


def _of_page(file: TextFile) -> Iterator[str]:
    words = len(WORD.findall(file.text))
    if words > MOST_WORDS:
        yield f"{file.name}: {words} words, at most {MOST_WORDS}"
    sections = [slug(match[1]) for match in HEADING.finditer(file.text) if match[0][:3] == "## "]
    listed = CONTENTS.findall(file.text.partition("\n## ")[0])
    if listed != sections:
        yield f"{file.name}: the table of contents does not list the sections in their order"


def _of_mentions(file: TextFile) -> Iterator[str]:
    for match in MENTION.finditer(file.text):
        page, where = file.root / FOLDER / match[1], line_of(file.text, match.start())
        if not page.is_file():
            yield f"{file.name}:{where}: {FOLDER}{match[1]} does not exist"
        elif match[2] and match[2] not in anchors(page.read_text(encoding="utf-8")):
            yield f"{file.name}:{where}: {match[1]} has no heading #{match[2]}"
