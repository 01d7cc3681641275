"""A document on a terminal. Figures are left out: they are in the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heapwise.document.aligned import Line, align, filled, fitted
from heapwise.document.folding import labelled
from heapwise.document.model import (
    Code,
    Facts,
    Folded,
    Heading,
    Labelled,
    Notice,
    Passage,
    Plot,
    Sentence,
    SentenceList,
    TextTable,
    with_content,
)
from heapwise.wording.visible import visible

LABEL = 9
"""The letters of the column of labels."""


def terminal(blocks: Sequence[Passage], width: int = 1000) -> str:
    """An empty line between two blocks. A notice follows its block at once, and an entry the entry
    above it. width: of tables that fit."""
    text, above = "", None
    for block in with_content(blocks):
        if isinstance(block, Plot):
            continue
        follows = isinstance(block, Notice) or (
            isinstance(block, Labelled) and isinstance(above, Labelled)
        )
        between = "" if above is None else "\n" if follows else "\n\n"
        text += between + _text(block, width)
        above = block
    return text


WithText = Heading | Sentence | SentenceList | Facts | Code | Notice | Labelled | TextTable | Folded


def _text(block: WithText, width: int) -> str:
    match block:
        case TextTable():
            lines = filled([[visible(cell.short) for cell in line] for line in block.lines])
            if block.cut:
                table = _named(lines, block.cut, width)
            else:
                table = fitted(lines, width) if block.fits else align(lines, _figures(block))
            above = [block.caption] if block.caption else []
            return "\n".join([*above, table, *(f"  {note}" for note in block.notes)])
        case Labelled(label, text, folds):
            head = f"{label:{LABEL}}"
            return labelled(head, text) if folds else head + text
        case SentenceList(texts):
            return "\n".join(f"- {text}" for text in texts)
        case Facts(pairs):
            return align([list(pair) for pair in pairs])
        case Folded(title, passages):
            return f"{title}\n\n{terminal(passages, width)}"
        case _:
            return block.text


LEAST_NAME = 24
"""The letters of a name that is cut."""


def _named(lines: Sequence[Line], cut: Callable[[str, int], str], width: int) -> str:
    """The names stand last, or above the figures of their row."""
    head, *rows = fitted([[*figures, ""] for _, *figures in lines]).splitlines()
    left = max(map(len, (head, *rows))) + 2
    room = width - left
    if room < LEAST_NAME:
        below = zip(rows, lines[1:], strict=True)
        return "\n".join([head, *(f"{cut(line[0], width)}\n  {row}" for row, line in below)])
    names = [lines[0][0], *(cut(line[0], room) for line in lines[1:])]
    return "\n".join(row.ljust(left) + name for row, name in zip((head, *rows), names, strict=True))


def _figures(table: TextTable) -> set[int]:
    """The columns of numbers: cells with a mark are words, except for a row that has no number."""
    words = {
        at
        for row in table.lines[1:]
        for at, cell in enumerate(row)
        if cell.mark not in ("", "missing")
    }
    return set(range(1, len(table.lines[0]))) - words if table.of_figures else set()
