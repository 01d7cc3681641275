"""The parts of a document. None of them knows in which form it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True)
class Heading:
    """The title of what follows, up to the next heading. anchor: for links to it."""

    text: str
    anchor: str = ""


@dataclass(frozen=True)
class Sentence:
    """link: where more can be read, for forms that have links; "" if nowhere."""

    text: str
    link: str = ""


@dataclass(frozen=True)
class SentenceList:
    """Sentences of equal weight, one below the other."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """What is known of one thing: name and value."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """language: "" for a command that a reader may copy."""

    text: str
    language: str = ""


@dataclass(frozen=True)
class Notice:
    """How to read what stands above it: a legend, a source, a limit."""

    text: str


@dataclass(frozen=True)
class Labelled:
    """A sentence with the word that says what it is about; "" if that of the entry above goes on.

    folds: on a terminal, a text that is too long goes on under its beginning.
    """

    label: str
    text: str
    folds: bool = True


@dataclass(frozen=True)
class TableCell:
    """A cell of a table.

    short: the text where a line has little room, as on a terminal. small: what belongs to the text
    and weighs less, such as an interval. mark: better, worse or unsure, for forms that have
    colours. is_code: the text is what a shell reads. span: how many columns the cell fills. value:
    what rows are sorted by, if not by the text. note: of a first cell, what to know of its row.
    hint: what is shown if somebody points at the cell. svg: a drawing, for forms that have
    pictures. link: where more can be read.
    """

    text: str
    short: str
    small: str = ""
    mark: str = ""
    is_code: bool = False
    span: int = 1
    value: float | str | None = None
    note: str = ""
    hint: str = ""
    svg: str = ""
    link: str = ""


DRAWING = "drawing"
"""The mark of the head of a column of drawings."""


def table_cell(
    text: str,
    short: str | None = None,
    small: str = "",
    mark: str = "",
    *,
    is_code: bool = False,
    link: str = "",
) -> TableCell:
    """Where short is not given, the text stands everywhere."""
    return TableCell(text, text if short is None else short, small, mark, is_code, link=link)


TextOrCell = str | TableCell


def plain_cells(texts: Iterable[TextOrCell]) -> list[TableCell]:
    """Texts become cells that look the same everywhere."""
    return [table_cell(text) if isinstance(text, str) else text for text in texts]


@dataclass(frozen=True)
class TextTable:
    """The first column has the names of the rows. A heading is the title of the rows below it.

    folded: the words under which a form that can fold shows the table when asked; "" if it is
    always shown. is_open: it is shown until it is folded. fits: on a terminal, columns are folded
    where it is too narrow. of_figures: columns after the first are numbers. sortable: a reader may
    sort the rows, where a form can. look: a name for the style of a page. foot: rows that stay
    below the others. cut: makes a long name of a row a short one; on a terminal the names then
    stand last, or above their row if there is no room. spare: short heads of columns that a narrow
    terminal leaves out, the first of them first. Forms of text leave out drawings, and columns
    without a text.
    """

    head: Sequence[TableCell]
    rows: Sequence[Sequence[TableCell] | Heading]
    caption: str = ""
    folded: str = ""
    fits: bool = False
    of_figures: bool = False
    is_open: bool = False
    sortable: bool = False
    look: str = ""
    foot: Sequence[Sequence[TableCell]] = ()
    cut: Callable[[str, int], str] | None = None
    spare: Sequence[str] = ()

    @property
    def lines(self) -> list[list[TableCell]]:
        """The head and the rows, in which a cell stands alone in the first of its columns, without
        the columns of drawings."""
        drawn = {at for at, cell in enumerate(self.head) if cell.mark == DRAWING}
        lines = (_spread(row) for row in (self.head, *self.rows, *self.foot) if row)
        return [[c for at, c in enumerate(line) if at not in drawn] for line in lines]

    @property
    def notes(self) -> list[str]:
        """A sentence for each note, with the rows that it is about."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if not isinstance(row, Heading) and row[0].note:
                found.setdefault(row[0].note, []).append(row[0].text)
        return [f"{', '.join(names)}: {note}" for note, names in found.items()]


def _spread(row: Sequence[TableCell] | Heading) -> list[TableCell]:
    if isinstance(row, Heading):
        return [table_cell(row.text, f"{row.text}:")]
    return [part for cell in row for part in (cell, *([table_cell("")] * (cell.span - 1)))]


@dataclass(frozen=True)
class Plot:
    """svg: the drawing, for forms that have pictures. Others show the caption alone, or nothing.
    zooms: a reader may look at a part of it."""

    svg: str
    caption: str = ""
    zooms: bool = False


@dataclass(frozen=True)
class Folded:
    """What a form that can fold shows only if asked, under a title. is_open: until it is folded."""

    title: str
    passages: Sequence[Passage]
    is_open: bool = False


Passage = (
    Heading | Sentence | SentenceList | Facts | Code | Notice | Labelled | TextTable | Plot | Folded
)


def with_content(passages: Iterable[Passage]) -> list[Passage]:
    """Without those that say nothing, such as a table without rows: no form shows them."""
    return [block for block in passages if _content(block)]


def _content(block: Passage) -> object:
    match block:
        case TextTable():
            return block.rows
        case SentenceList(texts):
            return texts
        case Facts(pairs):
            return pairs
        case Plot(svg):
            return svg
        case Folded(_, passages):
            return with_content(passages)
        case _:
            return block.text


def plain_table(
    lines: Iterable[Iterable[TextOrCell]],
    caption: str = "",
    *,
    fits: bool = False,
    of_figures: bool = False,
    look: str = "",
) -> TextTable:
    """The first line is the head. Texts stand everywhere."""
    head, *rows = map(plain_cells, lines)
    return TextTable(head, rows, caption, fits=fits, of_figures=of_figures, look=look)


Item = TypeVar("Item")


def column_table(
    columns: Mapping[str, Callable[[Item], TextOrCell]],
    items: Iterable[Item],
    caption: str = "",
    *,
    look: str = "",
) -> TextTable:
    """A row for each item. columns: the head of a column -> what it says of an item."""
    rows = ([say(item) for say in columns.values()] for item in items)
    return plain_table([list(columns), *rows], caption, look=look)


def under(title: str, passages: Iterable[Passage]) -> list[Passage]:
    """With a heading; nothing if there is nothing below it."""
    found = with_content(passages)
    return [Heading(title), *found] if found else []
