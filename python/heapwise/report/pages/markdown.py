"""Markdown as the pages use it."""

from __future__ import annotations


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """A table; a bar within a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return [
        "| " + " | ".join(word.replace("|", "\\|").replace("\n", " ") for word in line) + " |"
        for line in lines
    ]
