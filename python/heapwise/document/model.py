"""The parts of a document. None of them knows in which form it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """The title of what follows, up to the next heading."""

    text: str


@dataclass(frozen=True)
class Sentence:
    """link: where more can be read, for forms that have links; "" if nowhere."""

    text: str
    link: str = ""


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
    colours. is_code: the text is what a shell reads. span: how many columns the cell fills.
    """

    text: str
    short: str
    small: str = ""
    mark: str = ""
    is_code: bool = False
    span: int = 1


def table_cell(
    text: str, short: str | None = None, small: str = "", mark: str = "", *, is_code: bool = False
) -> TableCell:
    """Where short is not given, the text stands everywhere."""
    return TableCell(text, text if short is None else short, small, mark, is_code)


@dataclass(frozen=True)
class TextTable:
    """The first column has the names of the rows. A heading is the title of the rows below it.

    folded: the words under which a form that can fold shows the table when asked; "" if it is
    always shown. is_open: it is shown until it is folded. fits: on a terminal, columns are folded
    where it is too narrow. of_figures: columns after the first are numbers.
    """

    head: Sequence[TableCell]
    rows: Sequence[Sequence[TableCell] | Heading]
    caption: str = ""
    folded: str = ""
    fits: bool = False
    of_figures: bool = False
    is_open: bool = False

    @property
    def lines(self) -> list[list[TableCell]]:
        """The head and the rows, in which a cell stands alone in the first of its columns."""
        return [_spread(row) for row in (self.head, *self.rows)]


def _spread(row: Sequence[TableCell] | Heading) -> list[TableCell]:
    if isinstance(row, Heading):
        return [table_cell(row.text, f"{row.text}:")]
    return [part for cell in row for part in (cell, *([table_cell("")] * (cell.span - 1)))]


@dataclass(frozen=True)
class Plot:
    """svg: the drawing, for forms that have pictures. Others show the caption alone, or nothing."""

    svg: str
    caption: str


Passage = Heading | Sentence | Notice | Labelled | TextTable | Plot


def plain_table(
    lines: Sequence[Sequence[str]], caption: str = "", *, fits: bool = False
) -> TextTable:
    """The first line is the head. The texts stand everywhere."""
    head, *rows = ([table_cell(word) for word in line] for line in lines)
    return TextTable(head, rows, caption, fits=fits)
