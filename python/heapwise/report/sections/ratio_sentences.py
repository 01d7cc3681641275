"""The ratios that the run is about, in sentences."""

from __future__ import annotations

from heapwise.document import Passage, SentenceList
from heapwise.report.view import View

TITLE, ORDER = "Ratios", 29


def tell(view: View) -> list[Passage]:
    return [SentenceList(view.result.headlines)]
