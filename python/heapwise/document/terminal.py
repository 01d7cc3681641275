"""A document on a terminal. Figures are left out: they are in the report."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.document.aligned import align, fitted
from heapwise.document.folding import labelled
from heapwise.document.model import Heading, Labelled, Notice, Passage, Plot, Sentence, TextTable
from heapwise.wording.visible import visible

LABEL = 9
"""The letters of the column of labels."""


def terminal(blocks: Sequence[Passage], width: int = 1000) -> str:
    """An empty line between two blocks. A notice follows its block at once, and an entry the entry
    above it. width: of tables that fit."""
    text, above = "", None
    for block in blocks:
        if isinstance(block, Plot):
            continue
        follows = isinstance(block, Notice) or (
            isinstance(block, Labelled) and isinstance(above, Labelled)
        )
        between = "" if above is None else "\n" if follows else "\n\n"
        text += between + _text(block, width)
        above = block
    return text


def _text(block: Heading | Sentence | Notice | Labelled | TextTable, width: int) -> str:
    match block:
        case TextTable():
            lines = [[visible(cell.short) for cell in line] for line in block.lines]
            table = (
                fitted(lines, width) if block.fits else align(lines, of_figures=block.of_figures)
            )
            return "\n".join([*([block.caption] if block.caption else []), table])
        case Labelled(label, text, folds):
            head = f"{label:{LABEL}}"
            return labelled(head, text) if folds else head + text
        case _:
            return block.text
