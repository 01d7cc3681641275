"""The limits of a gate, and what came of each."""

from __future__ import annotations

from heapwise.document import Passage, Sentence
from heapwise.report.view import View
from heapwise.study.gate.tell import limit_table

TITLE, ORDER = "Limits", 11


def tell(view: View) -> list[Passage]:
    gate = view.result.gate
    if gate is None:
        return []
    return [
        Sentence(f"The gate of {gate.new} against {gate.base}: {gate.verdict}."),
        limit_table(gate),
        *(Sentence(row.sentence) for row in gate.rows),
    ]
