"""What is told about experiments: every figure, or which subjects are behind the best."""

from __future__ import annotations

from dataclasses import replace

from heapwise.analysis import headline
from heapwise.document import Passage, Sentence
from heapwise.evidence import Evidence
from heapwise.model import Finding, Result
from heapwise.study.attacks.tell import attack_passages
from heapwise.study.experiments.cell_tables import experiment_tables
from heapwise.study.experiments.standing_tables import standing_tables
from heapwise.study.sentences import advice, answers, headlines
from heapwise.study.trees.program_tables import program_tables

MANY_ROWS = 400
"""More are no longer read on a terminal."""

MANY_FINDINGS = 24
"""More sentences neither: then each experiment has one, and the report has all."""


def tell(result: Result, evidence: Evidence) -> list[Passage]:
    return [
        *figures(result, evidence),
        *answers(result, findings(result)),
        *headlines(result),
        advice(result),
    ]


def figures(result: Result, evidence: Evidence) -> list[Passage]:
    """The tables. Rows that would fill many screens are replaced by their places."""
    programs = [e for e in result.run.experiments if e.is_of_programs]
    found: list[Passage] = [table for e in programs for table in program_tables(e, result)]
    found += attack_passages(result)
    told = {e.id for e in result.run.experiments if e.is_of_programs or not e.is_ranked}
    others = [row for row in result.rows if row.experiment not in told]
    if result.run.plan.smoke or len(others) <= MANY_ROWS:
        return [*found, *experiment_tables(replace(result, rows=others))]
    words = (
        f"{len(result.rows):,} rows with all their figures: "
        f"heapwise report {result.run.id}, or heapwise export {result.run.id}"
    )
    return [*found, *standing_tables(evidence), Sentence(words)]


def findings(result: Result) -> list[Finding]:
    """All of them, or of each experiment the one that says most, where they would be too many."""
    ranked = {e.id: e for e in result.run.experiments if e.is_ranked}
    found = [f for f in result.findings if f.experiment in ranked]
    if len(found) <= MANY_FINDINGS:
        return found
    first = [
        headline([f for f in found if f.experiment == e.id], e.quantities[0].name)
        for e in ranked.values()
    ]
    return [finding for finding in first if finding is not None]
