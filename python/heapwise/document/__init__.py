"""What is told about a result, for renderers to a terminal, to HTML and to Markdown."""

from heapwise.document.model import (
    Heading,
    Labelled,
    Notice,
    Passage,
    Plot,
    Sentence,
    TableCell,
    TextTable,
    plain_table,
    table_cell,
)

__all__ = [
    "Heading",
    "Labelled",
    "Notice",
    "Passage",
    "Plot",
    "Sentence",
    "TableCell",
    "TextTable",
    "plain_table",
    "table_cell",
]
