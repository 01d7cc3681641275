"""Sections and templates: results in, one HTML file out; and the export formats."""

from heapwise.report.page import build_page
from heapwise.report.pages import pages, results
from heapwise.report.redact import redact
from heapwise.report.view import View

__all__ = ["View", "build_page", "pages", "redact", "results"]
