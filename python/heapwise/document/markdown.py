"""A document as Markdown. Figures are left out: a page links to its pictures itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heapwise.document.aligned import filled
from heapwise.document.model import (
    Code,
    Facts,
    Folded,
    Heading,
    Labelled,
    Passage,
    Plot,
    Sentence,
    SentenceList,
    TableCell,
    TextTable,
    with_content,
)


def within_a_cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")


Plain = Callable[[str], str]


def markdown(blocks: Sequence[Passage], level: int = 2, plain: Plain | None = None) -> list[str]:
    """Lines, with an empty one after each block. level: of the headings. plain: for names that
    others made, what makes a text one that stays text."""
    lines: list[str] = []
    for block in with_content(blocks):
        if found := _lines(block, level, plain):
            lines += found if found[-1] == "" else [*found, ""]
    return lines


def _lines(block: Passage, level: int, plain: Plain | None) -> list[str]:
    words: Plain = plain or str
    match block:
        case Heading(text):
            return [f"{'#' * level} {words(text)}"]
        case Folded(title, passages):
            return [f"{'#' * level} {words(title)}", "", *markdown(passages, level + 1, plain)]
        case TextTable():
            head, *rows = filled([[_text(cell) for cell in line] for line in block.lines])
            shown = table(head, rows, plain or within_a_cell)
            above = [words(block.caption), ""] if block.caption else []
            below = [f"- {words(note)}" for note in block.notes]
            return [*above, *shown, *(["", *below] if below else [])]
        case Sentence(text, link) if link:
            return [f"{words(text)} [Where it can be read]({link})."]
        case Labelled(label, text):
            return [words(f"{label}: {text}" if label else text)]
        case SentenceList(texts):
            return [f"- {words(text)}" for text in texts]
        case Facts(pairs):
            return [f"- {words(f'{name}: {value}')}" for name, value in pairs]
        case Code(text, ""):
            return [f"    {text}"]
        case Code(text, language):
            return [f"```{language}", *text.splitlines(), "```"]
        case Plot():
            return []
        case _:
            return [words(block.text)]


def _text(cell: TableCell) -> str:
    text = f"`{cell.text}`" if cell.is_code and cell.text else cell.text
    text = f"[{text}]({cell.link})" if cell.link else text
    return f"{text} ({cell.small})".lstrip() if cell.small else text


def table(head: list[str], rows: list[list[str]], plain: Plain = within_a_cell) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(plain, line))} |" for line in lines]


def markdown_page(
    title: str, blocks: Sequence[Passage], made_by: str = "", plain: Plain | None = None
) -> str:
    """A whole file. made_by: what wrote it, for those who would edit it."""
    mark = [f"<!-- {made_by} -->", ""] if made_by else []
    lines = [*mark, f"# {title}", "", *markdown(blocks, plain=plain)]
    return "\n".join(lines).rstrip() + "\n"
