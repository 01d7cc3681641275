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


UNFOLDED = 1000
"""Columns of a file: there a row is one line, however long it is."""


def terminal(blocks: Sequence[Passage], width: int = UNFOLDED) -> str:
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
            cut = block.cut
            table = _named(lines, cut, width) if cut else _narrowed(block, lines, width)
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


def _narrowed(block: TextTable, lines: Sequence[Line], width: int) -> str:
    """Without columns that it can spare, as long as a line of it is wider than that. A cell of
    words over several columns stays whole."""
    figures = _figures(block)
    spare = [head for head in block.spare if head in lines[0]]
    while True:
        if block.fits:
            text, whole = fitted(lines, width), fitted(lines)
        else:
            text = whole = align(lines, figures)
        if not spare or max(map(len, whole.splitlines()), default=0) <= width:
            return text
        at = lines[0].index(spare.pop(0))
        lines = [[*line[:at], *line[at + 1 :]] for line in lines]
        figures = {each - (each > at) for each in figures if each != at}


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
