"""What is told about a gate: the verdict, and a sentence for each limit."""

from __future__ import annotations

from heapwise.document import Labelled, Passage
from heapwise.evidence import Evidence
from heapwise.model import GateResult, Result


def tell(result: Result, _: Evidence) -> list[Passage]:
    return [] if result.gate is None else [*gate_entries(result.gate)]


def gate_entries(gate: GateResult) -> list[Labelled]:
    if gate.identical:
        sentences = [f"Nothing was measured: {gate.note}."]
    else:
        sentences = [row.sentence for row in gate.rows]
    return [Labelled("Gate", gate.verdict), *(Labelled("", sentence) for sentence in sentences)]
