"""Windows of one server: its warm-up, and the mean of the rest."""

from __future__ import annotations

from heapwise.document import Passage
from heapwise.report.view import View
from heapwise.study.server.tell import window_passages

TITLE, ORDER = "Windows of one server", 46


def tell(view: View) -> list[Passage]:
    return window_passages(view.evidence)
