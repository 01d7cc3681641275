"""The comparisons that answer the question of an experiment, as it declares them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from heapwise.analysis.verdicts.comparison import (
    between,
    difference,
    setting_words,
    where_words,
)
from heapwise.analysis.verdicts.gain import quantity_of
from heapwise.analysis.verdicts.rows import place
from heapwise.analysis.verdicts.standing import Standing, standings
from heapwise.evidence import Evidence
from heapwise.model import Answer, Cell, Experiment, Finding, Quantity, Settings, same_setting
from heapwise.wording.lists import listed


def answers(evidence: Evidence, experiment: Experiment) -> Iterator[Finding]:
    """In the order of their declarations, then of the cells. Nothing of cells that the run does
    not have."""
    for declared in experiment.answers:
        cells = [
            cell
            for cell in evidence.cells[experiment.id]
            if cell.quantity == declared.quantity
            and not cell.is_diagnostic
            and _fits(cell.parameters, declared)
        ]
        for cell in sorted(cells, key=lambda cell: place(experiment, cell)):
            found = (
                _pair(evidence, experiment, declared, cell)
                if declared.subject
                else (_best(evidence, experiment, cell))
            )
            for finding in found:
                yield replace(finding, answer=True)


def _fits(parameters: Settings, declared: Answer) -> bool:
    return all(
        name in parameters and same_setting(parameters[name], value)
        for name, value in declared.parameters.items()
    )


def _pair(
    evidence: Evidence, experiment: Experiment, declared: Answer, cell: Cell
) -> Iterator[Finding]:
    """One subject against another, or against itself in another cell."""
    changed = declared.over_parameters
    first, second = declared.subject, declared.over or declared.subject
    other = replace(cell, parameters=cell.parameters | changed)
    if first not in evidence.table[cell] or second not in evidence.table.get(other, {}):
        return
    where = where_words(evidence, experiment, cell, without=changed)
    names = first, second
    if changed:
        here = {name: cell.parameters[name] for name in changed}
        names = (
            f"{first} with {setting_words(experiment, here)}",
            f"{second} with {setting_words(experiment, changed)}",
        )
    yield from between(evidence, experiment, ((cell, first), (other, second)), names, where)


def _best(evidence: Evidence, experiment: Experiment, cell: Cell) -> Iterator[Finding]:
    """The best subject and its lead; or the best ones, if they cannot be told apart."""
    where = where_words(evidence, experiment, cell)
    for standing in standings(evidence, experiment.family):
        if standing.cell == cell:
            yield _first(standing, quantity_of(evidence, cell), where)


def _first(standing: Standing, quantity: Quantity, where: str) -> Finding:
    best, level = standing.best, standing.level()
    behind = [
        p
        for p in standing.places.values()
        if p.subject not in level and not p.aside and p.behind is not None
    ]
    following = min(behind, key=lambda p: p.behind or 0.0, default=None)
    leads = len(level) == 1
    said = f"{best} is first" if leads else f"level at the head: {listed(level, len(level))}"
    figures: tuple[float | None, float | None, float | None] = (None, None, None)
    if following and following.behind and following.low and following.high:
        figures = following.behind, following.low, following.high
        if quantity.better == "lower":
            figures = 1 / following.behind, 1 / following.high, 1 / following.low
        said += f"; {difference(quantity, best, following.subject, *figures)}"
    return Finding(
        standing.cell,
        best,
        following.subject if following else best,
        *figures,
        "better" if leads else "cannot tell",
        f"{where}{said}.",
        p_value=standing.p_alone,
    )
