"""Pages of Markdown with their pictures: of the experiments of a run, and of published reports."""

from heapwise.report.pages.machine import folder_of
from heapwise.report.pages.results import INDEX, results, with_new_row
from heapwise.report.pages.write import pages

__all__ = ["INDEX", "folder_of", "pages", "results", "with_new_row"]
