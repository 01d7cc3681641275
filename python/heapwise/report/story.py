"""What a run has to say about one experiment, in words: for its section and for its page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from heapwise.analysis.summary.findings import headline
from heapwise.analysis.verdicts.expectations import figures_of
from heapwise.model import Detectable, Expected, Experiment
from heapwise.report.view import View
from heapwise.wording.lists import counted
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import percent

FEW = 8
"""Sentences that are read at once; the others can be opened."""


@dataclass(frozen=True)
class ExpectationLine:
    """One expectation, as a line of a table."""

    verdict: str
    says: str
    measured: str
    figures: str
    aim: str
    note: str


@dataclass(frozen=True)
class Story:
    """headline: the sentence that stands for all, ``""`` without any. answers: to the question."""

    experiment: Experiment
    headline: str
    answers: list[str]
    sentences: list[str]
    checks: list[ExpectationLine]
    detects: str

    @property
    def first(self) -> list[str]:
        """What answers the question; else all, or the one that says most, where they are many."""
        if self.answers:
            return self.answers
        return self.sentences if len(self.sentences) <= FEW else [self.headline]

    @property
    def counts(self) -> str:
        """``3 met, 1 not met``."""
        found = Counter(check.verdict for check in self.checks)
        return ", ".join(f"{number} {word}" for word, number in found.items())


def story(view: View, experiment: Experiment) -> Story:
    found = [f for f in view.result.findings if f.experiment == experiment.id]
    best = headline(found, experiment.quantities[0].name) or headline(
        found, found[0].cell.quantity if found else ""
    )
    expected = [e for e in view.result.expectations if e.experiment == experiment.id]
    least = next((d for d in view.result.detectable if d.experiment == experiment.id), None)
    return Story(
        experiment,
        best.sentence if best else "",
        [f.sentence for f in found if f.answer],
        [f.sentence for f in found],
        [_check(e) for e in expected],
        _detects(least) if least else "",
    )


def _check(expected: Expected) -> ExpectationLine:
    return ExpectationLine(
        expected.verdict,
        expected.says,
        expected.of,
        figures_of(expected) or "–",
        expected.aim,
        expected.note,
    )


def _detects(least: Detectable) -> str:
    if least.difference is None:
        return f"What difference would be found is not known: {least.note}."
    worst = (
        f" ({percent(least.worst)} in the noisiest, {least.worst_cell})"
        if (least.cells > 1 and least.worst is not None)
        else ""
    )
    return (
        f"A difference of {percent(least.difference)} in {quantity_name(least.quantity)} would "
        f"be found 4 times in 5, by {counted(least.pairs, 'A/A pair')} in "
        f"{counted(least.cells, 'cell')}{worst}{f'; {least.note}' if least.note else ''}."
    )
