"""A page of Markdown and a picture for each experiment of a run, and an index of them."""

from heapwise.report.pages.write import pages

__all__ = ["pages"]
