"""What is told about a result, for renderers to a terminal, to HTML and to Markdown."""

from heapwise.document.model import (
    Heading,
    Notice,
    Passage,
    Plot,
    Sentence,
    TableCell,
    TextTable,
    table_cell,
)

__all__ = [
    "Heading",
    "Notice",
    "Passage",
    "Plot",
    "Sentence",
    "TableCell",
    "TextTable",
    "table_cell",
]
