"""What is told about a trace that was played with pools: the advice is what its user asked for."""

from __future__ import annotations

from heapwise.document import Passage
from heapwise.evidence import Evidence
from heapwise.model import Result
from heapwise.study.experiments.tell import figures, findings
from heapwise.study.sentences import advice, answers, headlines


def tell(result: Result, evidence: Evidence) -> list[Passage]:
    return [
        advice(result),
        *headlines(result),
        *figures(result, evidence),
        *answers(result, findings(result)),
    ]
