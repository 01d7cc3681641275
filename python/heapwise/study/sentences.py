"""The sentences at the end of a result, whichever kind of study it is of."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.analysis import detectable_line, expected_line
from heapwise.document import Labelled
from heapwise.model import Finding, Result


def answers(result: Result, findings: Sequence[Finding]) -> list[Labelled]:
    """What experiments found and expected, and the least that they could have found."""
    alone = len(result.run.experiments) == 1
    found = [f.sentence if alone else f"{f.experiment}: {f.sentence}" for f in findings]
    expected = [] if result.run.plan.smoke else [expected_line(e) for e in result.expectations]
    entries = [*_listed("Verdict", found), *_listed("Expected", expected)]
    if line := detectable_line(result.detectable):
        entries.append(Labelled("Detects", f"a difference of: {line}"))
    return entries


def headlines(result: Result) -> list[Labelled]:
    return _listed("", result.headlines)


def advice(result: Result) -> Labelled:
    return Labelled("Advice", result.advice)


def _listed(label: str, lines: Sequence[str]) -> list[Labelled]:
    """Lines that begin with spaces are code, or stand below code: they stay as they are."""
    return [
        Labelled("" if at else label, line, folds=not line.startswith(" "))
        for at, line in enumerate(lines)
    ]
