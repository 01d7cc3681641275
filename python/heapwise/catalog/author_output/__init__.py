"""What the author's own program of a published report printed: one importer for each form."""

from heapwise.catalog.author_output.read import read_author_output

__all__ = ["read_author_output"]
