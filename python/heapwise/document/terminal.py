"""A document on a terminal. Figures are left out: they are in the report."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.document.aligned import align
from heapwise.document.model import Notice, Passage, Plot, TextTable


def terminal(blocks: Sequence[Passage]) -> str:
    """An empty line between two blocks; a notice follows its block at once."""
    text = ""
    for block in blocks:
        if isinstance(block, Plot):
            continue
        between = "\n" if isinstance(block, Notice) else "\n\n"
        text += (between if text else "") + _text(block)
    return text


def _text(block: Passage) -> str:
    if isinstance(block, TextTable):
        lines = [[cell.short for cell in line] for line in (block.head, *block.rows)]
        return "\n".join([*([block.caption] if block.caption else []), align(lines)])
    return "" if isinstance(block, Plot) else block.text
