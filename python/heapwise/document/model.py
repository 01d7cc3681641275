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
    colours. is_code: the text is what a shell reads.
    """

    text: str
    short: str
    small: str = ""
    mark: str = ""
    is_code: bool = False


def table_cell(
    text: str, short: str | None = None, small: str = "", mark: str = "", *, is_code: bool = False
) -> TableCell:
    """Where short is not given, the text stands everywhere."""
    return TableCell(text, text if short is None else short, small, mark, is_code)


@dataclass(frozen=True)
class TextTable:
    """The first column has the names of the rows.

    folded: the words under which a form that can fold shows the table when asked; "" if it is
    always shown. fits: on a terminal, columns are folded where it is too narrow. of_figures:
    columns after the first are numbers.
    """

    head: Sequence[TableCell]
    rows: Sequence[Sequence[TableCell]]
    caption: str = ""
    folded: str = ""
    fits: bool = False
    of_figures: bool = False


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
