"""Ratios with one direction: above 1 is better, whatever the quantity counts."""

from __future__ import annotations

from heapwise.analysis.verdicts.rows import place
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.series import Side
from heapwise.model import PROCESSOR_TIME, Cell, Quantity
from heapwise.stats.ratios.combined import combined_ratio
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.wording.names import split_quantile
from heapwise.wording.numbers import TIME_UNITS

PEAK = "peak_resident"
"""The quantity that holds the most memory a process had at once."""


def quantity_of(evidence: Evidence, cell: Cell) -> Quantity:
    """As its experiment declares it. Raises KeyError for a quantity that none declares."""
    return evidence.quantities[(cell.experiment, cell.quantity)]


def is_speed(quantity: Quantity) -> bool:
    """How long something takes, or how many operations there are in a second."""
    if quantity.name == PROCESSOR_TIME:
        return False
    return quantity.unit in TIME_UNITS or (
        quantity.better == "higher" and quantity.unit.endswith("/s")
    )


def is_quantile(quantity: Quantity) -> bool:
    return split_quantile(quantity.name) is not None


def gain(
    evidence: Evidence, cell: Cell, subject: str, rival: str
) -> tuple[PairedRatio | None, str]:
    """How many times better the subject is than the rival, from their pairs, and a note."""
    return comparisons_of(evidence).ratio(*_sides(evidence, cell, subject, rival))


def _sides(evidence: Evidence, cell: Cell, subject: str, rival: str) -> tuple[Side, Side]:
    """In the order in which their ratio is above 1 if the subject is better."""
    if quantity_of(evidence, cell).better == "higher":
        return (cell, subject), (cell, rival)
    return (cell, rival), (cell, subject)


def is_main(quantity: Quantity) -> bool:
    """A throughput or a mean time; quantiles of single calls are rows of their own kind."""
    return is_speed(quantity) and not is_quantile(quantity)


def main_rows(evidence: Evidence, family: str) -> list[Cell]:
    """Every cell of every main quantity of the family's experiments, in reading order."""
    found: list[Cell] = []
    for experiment in evidence.stored.run.experiments:
        if experiment.family == family:
            cells = [
                c
                for c in evidence.table
                if c.experiment == experiment.id
                and not c.is_diagnostic
                and is_main(quantity_of(evidence, c))
            ]
            found += sorted(cells, key=lambda c, e=experiment: place(e, c))  # type: ignore[misc]
    return found


def peak_row(evidence: Evidence, cell: Cell) -> Cell | None:
    """Where the peak memory of the same processes stands; None where nobody measured it."""
    found = Cell(cell.experiment, cell.parameters, PEAK)
    return found if found in evidence.table else None


def mean_gain(
    evidence: Evidence, cells: list[Cell], subject: str, rival: str
) -> tuple[PairedRatio | None, str]:
    """The geometric mean of ``gain`` over the cells, and a note.

    None where one of them was not measured in some cell: over survivors it would not be a mean.
    """
    rows: dict[str, dict[int, float]] = {}
    for cell in cells:
        row = evidence.table[cell]
        if subject not in row or rival not in row:
            return None, f"not measured in {cell.experiment} {cell.parameters}"
        pairs = comparisons_of(evidence).pairs(*_sides(evidence, cell, subject, rival))
        if not pairs.has_ratio:
            return None, f"no ratio in {cell.experiment} {cell.parameters}"
        rows[repr(cell)] = {
            number: above / below
            for number, above, below in zip(pairs.rounds, pairs.above, pairs.below, strict=True)
        }
    if not rows:
        return None, "no row to take a mean of"
    tied = [comparisons_of(evidence).dependence[cell.experiment] for cell in cells]
    found = combined_ratio(rows).widened(
        max(one.factor for one in tied), max(one.strict_factor for one in tied)
    )
    return found, found.note


def mean_floor(evidence: Evidence, cells: list[Cell]) -> float | None:
    """The noise floor of a mean over cells: how far that of the baseline over itself may still lie
    from 1. The widest of the cells where they have no baseline in common; None without one."""
    names = {
        (evidence.baselines[c.experiment], evidence.controls.get(c.experiment, "")) for c in cells
    }
    found = None
    if len(names) == 1:
        base, control = names.pop()
        found, _ = mean_gain(evidence, cells, control, base)
    if found is None or found.low is None or found.high is None:
        floors = comparisons_of(evidence).floors
        return max((floors[c] for c in cells if c in floors), default=None)
    return float(max(found.high, 1 / found.low) - 1)
