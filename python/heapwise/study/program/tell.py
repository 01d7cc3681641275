"""What is told about a comparison of programs."""

from __future__ import annotations

from heapwise.document import Labelled, Passage
from heapwise.evidence import Evidence
from heapwise.model import SIDE_BY_SIDE, Result
from heapwise.study.program.compare_table import compare_tables
from heapwise.study.sentences import advice
from heapwise.study.server.server_tables import growth_table
from heapwise.wording.numbers import percent


def tell(result: Result, evidence: Evidence) -> list[Passage]:
    noise = result.noise_floor
    return [
        *compare_tables(result),
        *growth_table(evidence),
        advice(result),
        *([] if noise is None else [_noise(noise, evidence)]),
    ]


def _noise(floor: float, evidence: Evidence) -> Labelled:
    beside = [f for cell, f in evidence.floors.items() if cell.quantity == SIDE_BY_SIDE]
    words = f"±{percent(floor)} (A/A)"
    if beside:
        words += f" in time, ±{percent(max(beside))} in CPU time side by side"
    return Labelled("Noise", f"{words}: smaller differences cannot be told", folds=False)
