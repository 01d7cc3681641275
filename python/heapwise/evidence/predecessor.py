"""What the process before does to a cell, and to the ratios of its subjects."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import expm1, log, nan
from typing import TYPE_CHECKING

import numpy as np

from heapwise.evidence.comparisons import comparisons_of
from heapwise.evidence.kept import timed
from heapwise.model import Cell, Process
from heapwise.stats.ratios.carry_over import CarryOver, carry_over
from heapwise.wording.numbers import percent

if TYPE_CHECKING:
    from heapwise.evidence.evidence import Evidence

LEVEL = 0.01

MATTERS = 0.5
"""The share of a difference itself: if the process before explains less of it, the difference
stands."""


def carry_over_of(evidence: Evidence, cell: Cell) -> CarryOver | None:
    """What the process before does to the values of a cell of a comparison. None if that cannot be
    tested, as for processes side by side, which have none before them."""
    is_compared = evidence.stored.run.plan.kind == "compare"
    if not is_compared or evidence.quantities[cell.experiment, cell.quantity].relative:
        return None
    return evidence.once(_tests)(cell)


def _tests(evidence: Evidence) -> Callable[[Cell], CarryOver | None]:
    control = {name: base for base, name in _labels(evidence)}
    found = [p for p in evidence.stored.processes if timed(p)]
    after_others = {
        process.number
        for before, process in pairwise(evidence.stored.processes)
        if not timed(before)
    }

    def test(cell: Cell) -> CarryOver | None:
        logs = [
            nan if process.number in after_others else _log(evidence, cell, process)
            for process in found
        ]
        names = [control.get(process.subject, process.subject) for process in found]
        return carry_over([process.round for process in found], names, logs)

    return cache(test)


def _labels(evidence: Evidence) -> list[tuple[str, str]]:
    """Both labels of each baseline: they are one thing, so the process after them is the same."""
    return [
        (base, evidence.controls[experiment])
        for experiment, base in evidence.baselines.items()
        if experiment in evidence.controls
    ]


def _log(evidence: Evidence, cell: Cell, process: Process) -> float:
    if process.setup != cell.setup:
        return nan
    series = evidence.table[cell].get(process.subject)
    value = series.rounds.get(process.round) if series else None
    return log(value) if value is not None and value > 0 else nan


def predecessor_words(evidence: Evidence, cell: Cell, subject: str, base: str) -> str:
    """``0.6 % of the difference comes from the process before``, if that is certain and most of
    the difference; else ""."""
    found = carry_over_of(evidence, cell)
    if found is None or found.p_value > LEVEL:
        return ""
    labels = {base}
    if base == evidence.baselines.get(cell.experiment):
        labels.add(evidence.controls.get(cell.experiment, ""))
    bias = _mean_after(evidence, cell, {subject}, found) - _mean_after(
        evidence, cell, labels, found
    )
    ratio, _ = comparisons_of(evidence).ratio((cell, subject), (cell, base))
    if ratio is None or abs(bias) <= MATTERS * abs(log(ratio.ratio)):
        return ""
    return (
        f"the process that ran before changes its ratio by {percent(abs(expm1(bias)))}: "
        "the order did it"
    )


def _mean_after(evidence: Evidence, cell: Cell, names: set[str], found: CarryOver) -> float:
    """What the predecessors of these subjects add to the logarithm of their values, on average."""
    control = {name: base for base, name in _labels(evidence)}
    added, before = [], ""
    for process in evidence.stored.processes:
        if not timed(process):
            continue
        if process.subject in names and process.setup == cell.setup and before in found.after:
            added.append(found.after[before])
        before = control.get(process.subject, process.subject)
    return float(np.mean(added)) if added else 0.0
