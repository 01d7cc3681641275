"""One file per export format: NAME, SUFFIX, MIME, ABOUT and ``write(view)``, text out."""

from heapwise.report.formats.found import find_formats

__all__ = ["find_formats"]
