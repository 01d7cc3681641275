"""What the laboratory tells about a result. Renderers write it for a terminal, as HTML and as Markdown."""

from heapwise.document.model import (
    Heading,
    Notice,
    Passage,
    Plot,
    Sentence,
    TableCell,
    TextTable,
    cell,
)

__all__ = ["Heading", "Notice", "Passage", "Plot", "Sentence", "TableCell", "TextTable", "cell"]
