"""Sections and templates: results in, one HTML file out; and the export formats."""

from heapwise.report.page import build_page
from heapwise.report.pages import INDEX, folder_of, pages, results, with_new_row
from heapwise.report.redact import redact
from heapwise.report.view import View

__all__ = ["INDEX", "View", "build_page", "folder_of", "pages", "redact", "results", "with_new_row"]
