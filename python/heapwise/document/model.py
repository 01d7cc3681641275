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
    text: str


@dataclass(frozen=True)
class Notice:
    """How to read what stands above it: a legend, a source, a limit."""

    text: str


@dataclass(frozen=True)
class TableCell:
    """A cell of a table. short: the text where a line has little room, as on a terminal."""

    text: str
    short: str


def table_cell(text: str, short: str | None = None) -> TableCell:
    """Where short is not given, the text stands everywhere."""
    return TableCell(text, text if short is None else short)


@dataclass(frozen=True)
class TextTable:
    """The first column has the names of the rows.

    folded: the words under which a form that can fold shows the table when asked; "" if it is
    always shown.
    """

    head: Sequence[TableCell]
    rows: Sequence[Sequence[TableCell]]
    caption: str = ""
    folded: str = ""


@dataclass(frozen=True)
class Plot:
    """svg: the drawing, for forms that have pictures. Others show the caption alone, or nothing."""

    svg: str
    caption: str


Passage = Heading | Sentence | Notice | TextTable | Plot
