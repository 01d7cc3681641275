"""A document as Markdown. Figures are left out: a page links to its pictures itself."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.document.model import Entry, Heading, Passage, Plot, TextTable


def markdown(blocks: Sequence[Passage], level: int = 2) -> list[str]:
    """Lines, with an empty one after each block. level: of the headings."""
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Heading):
            lines += [f"{'#' * level} {block.text}", ""]
        elif isinstance(block, TextTable):
            lines += [block.caption, ""] if block.caption else []
            head = [cell.text for cell in block.head]
            lines += [*table(head, [[cell.text for cell in line] for line in block.rows]), ""]
        elif isinstance(block, Entry):
            lines += [f"{block.label}: {block.text}" if block.label else block.text, ""]
        elif not isinstance(block, Plot):
            lines += [block.text, ""]
    return lines


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """A table; a bar within a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return [
        "| " + " | ".join(word.replace("|", "\\|").replace("\n", " ") for word in line) + " |"
        for line in lines
    ]
