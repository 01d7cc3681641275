"""A document as Markdown. Figures are left out: a page links to its pictures itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heapwise.document.model import Heading, Labelled, Passage, Plot, Sentence, TableCell, TextTable


def within_a_cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")


def markdown(
    blocks: Sequence[Passage], level: int = 2, plain: Callable[[str], str] = within_a_cell
) -> list[str]:
    """Lines, with an empty one after each block. level: of the headings. plain: makes a text one
    that stays within a cell; stricter for names that others made."""
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Heading):
            lines += [f"{'#' * level} {block.text}", ""]
        elif isinstance(block, TextTable):
            lines += [block.caption, ""] if block.caption else []
            head, *rows = map(_texts, block.lines)
            lines += [*table(head, rows, plain), ""]
        elif isinstance(block, Sentence) and block.link:
            lines += [f"{block.text} [Where it can be read]({block.link}).", ""]
        elif isinstance(block, Labelled):
            lines += [f"{block.label}: {block.text}" if block.label else block.text, ""]
        elif not isinstance(block, Plot):
            lines += [block.text, ""]
    return lines


def _texts(cells: Sequence[TableCell]) -> list[str]:
    return [_text(cell) for cell in cells]


def _text(cell: TableCell) -> str:
    text = f"`{cell.text}`" if cell.is_code and cell.text else cell.text
    return f"{text} ({cell.small})" if cell.small else text


def table(
    head: list[str], rows: list[list[str]], plain: Callable[[str], str] = within_a_cell
) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(plain, line))} |" for line in lines]
