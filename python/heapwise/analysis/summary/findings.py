"""Verdicts as sentences: each from the pairs of its cell, so that none can outlive its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from heapwise.analysis.summary.answers import answers
from heapwise.analysis.verdicts.comparison import (
    between,
    quantity_words,
    setting_words,
    where_words,
)
from heapwise.analysis.verdicts.rows import outcome_of, place
from heapwise.evidence import Evidence, ranking_of
from heapwise.evidence.claims import LEVEL
from heapwise.evidence.series import baseline_of
from heapwise.model import Cell, Experiment, Finding, same_setting, setting_order
from heapwise.stats.claims.false_discovery import benjamini_hochberg


def findings(evidence: Evidence) -> list[Finding]:
    """What answers the questions; every subject against its baseline; and every parameter's far
    end against its first value.

    In the order of the rows; none for smoke runs and comparisons.
    """
    plan = evidence.stored.run.plan
    if plan.smoke or not plan.traits.has_findings:
        return []
    found: list[Finding] = []
    for experiment in evidence.stored.run.experiments:
        found += answers(evidence, experiment)
        for cell in _cells(evidence, experiment):
            found += _subjects(evidence, experiment, cell)
            found += _parameters(evidence, experiment, cell)
    chances = benjamini_hochberg([f.p_value for f in found])
    found = [
        replace(f, certain=f.verdict in ("better", "worse") and chance < LEVEL)
        for f, chance in zip(found, chances, strict=True)
    ]
    return list({(f.experiment, f.sentence): f for f in reversed(found)}.values())[::-1]


def headline(found: list[Finding], quantity: str) -> Finding | None:
    """The first answer to the question, certain or not; without one the largest difference of this
    quantity that is certain; else the first that was told.

    The largest by the end of its interval nearer to 1, which noise does not enlarge.
    Between subjects, where there is one: a parameter's effect is what the picture shows.
    """
    if answer := next((f for f in found if f.answer), None):
        return answer
    mine = [f for f in found if f.cell.quantity == quantity]
    sure = [f for f in mine if f.certain]
    if sure:
        chosen = [f for f in sure if not f.parameter] or sure
        return max(chosen, key=lambda f: max(f.low or 0, 1 / (f.high or 1)))
    told = [f for f in mine if f.verdict != "not measured"]
    return next(iter([f for f in told if f.verdict == "no difference"] or told or mine), None)


def _cells(evidence: Evidence, experiment: Experiment) -> list[Cell]:
    """Those tried, with each quantity that some subject yielded there (or the first, if none)."""
    found = []
    for name, key in evidence.tried:
        if name == experiment.id:
            cells = [
                Cell(name, key, quantity.name)
                for quantity in experiment.quantities
                if not quantity.restates
            ]
            found += [c for c in cells if c in evidence.table] or cells[:1]
    return sorted((c for c in found if not c.is_diagnostic), key=lambda c: place(experiment, c))


def _subjects(evidence: Evidence, experiment: Experiment, cell: Cell) -> Iterator[Finding]:
    base = baseline_of(evidence.stored, experiment)
    row = evidence.table.get(cell, {})
    tried, group_of = evidence.tried[cell.setup], ranking_of(evidence).group_of
    aside = ranking_of(evidence).never_ranked[experiment.id]
    for name in evidence.subjects:
        if name == base or name in aside or name not in tried:
            continue
        if group_of(cell.experiment, name) != group_of(cell.experiment, base):
            continue  # kinds are not ranked against each other
        if name not in row:
            if not any(
                name in evidence.table[c]
                for c in evidence.cells[cell.experiment]
                if c.setup == cell.setup
            ):
                yield _nothing(evidence, experiment, cell, name, base)
        elif base in row:
            yield from between(
                evidence,
                experiment,
                ((cell, name), (cell, base)),
                (name, base),
                where_words(evidence, experiment, cell),
            )


def _parameters(evidence: Evidence, experiment: Experiment, cell: Cell) -> Iterator[Finding]:
    """From the first cell of the experiment: one parameter at a time goes to its other values."""
    first = min(
        (
            c
            for c in evidence.cells[experiment.id]
            if c.quantity == cell.quantity and not c.is_diagnostic
        ),
        key=lambda c: place(experiment, c),
        default=None,
    )
    if first is None or cell == first:
        return
    here, start = cell.parameters, first.parameters
    moved = [name for name in here if not same_setting(here[name], start.get(name))]
    if len(moved) != 1 or not _is_end(evidence, cell, moved[0]):
        return
    name = moved[0]
    if any(p.name == name and p.changes_work for p in experiment.parameters):
        return
    for subject in evidence.subjects:
        if subject in ranking_of(evidence).never_ranked[experiment.id] or (
            subject not in evidence.table[cell] or subject not in evidence.table[first]
        ):
            continue
        above, below = (
            f"{subject} with {setting_words(experiment, {name: p[name]})}" for p in (here, start)
        )
        yield from between(
            evidence,
            experiment,
            ((cell, subject), (first, subject)),
            (above, below),
            quantity_words(experiment, cell),
            name,
        )


def _is_end(evidence: Evidence, cell: Cell, name: str) -> bool:
    """The largest of numbers; of words each, since they have no order."""
    if cell not in evidence.table:
        return False
    value = cell.parameters[name]
    if not isinstance(value, int | float):
        return True
    every = [
        c.parameters[name] for c in evidence.cells[cell.experiment] if c.quantity == cell.quantity
    ]
    return same_setting(value, max(every, key=setting_order))


def _nothing(
    evidence: Evidence, experiment: Experiment, cell: Cell, name: str, base: str
) -> Finding:
    _, reason = outcome_of(evidence, cell.setup, [name])
    where = where_words(evidence, experiment, cell, named=False)
    return Finding(
        cell,
        name,
        base,
        None,
        None,
        None,
        "not measured",
        f"{where}{name} was not measured: {reason or 'no sample kept'}.",
    )
