"""What is told about a result, by its kind of study."""

from __future__ import annotations

from collections.abc import Callable

from heapwise.document import Passage
from heapwise.evidence import Evidence
from heapwise.model import Result

Telling = Callable[[Result, Evidence], list[Passage]]


def tell(result: Result, evidence: Evidence) -> list[Passage]:
    """All but trust, which is told of every run alike."""
    return _telling(result)(result, evidence)


def _telling(result: Result) -> Telling:
    options = result.run.plan.options
    if options.gate is not None:
        from heapwise.study.gate.tell import tell as gate

        return gate
    if result.run.plan.kind == "compare":
        from heapwise.study.program.tell import tell as program

        return program
    if options.server is not None:
        from heapwise.study.server.tell import tell as server

        return server
    if options.replay is not None and options.replay.candidates:
        from heapwise.study.replay.tell import tell as replay

        return replay
    from heapwise.study.experiments.tell import tell as experiments

    return experiments
