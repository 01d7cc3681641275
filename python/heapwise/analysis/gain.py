"""Ratios with one direction: above 1 is better, whatever the quantity counts."""

from __future__ import annotations

from heapwise.analysis.quantile_name import split_quantile
from heapwise.analysis.rows import place
from heapwise.analysis.units import TIME_UNITS
from heapwise.evidence import Evidence
from heapwise.evidence.series import REPEATS_NOTE, Cell, pair, ratio_of
from heapwise.model import Quantity
from heapwise.stats.combined import CombinedRatio, Pair, combined_ratio
from heapwise.stats.paired import PairedRatio

PEAK = "peak_resident"
"""The quantity that holds the most memory a process had at once."""


def quantity_of(evidence: Evidence, cell: Cell) -> Quantity:
    """As its experiment declares it. Raises KeyError for a quantity that none declares."""
    return evidence.quantities[(cell.experiment, cell.quantity)]


def is_speed(quantity: Quantity) -> bool:
    """A time, or so many operations a second."""
    return quantity.unit in TIME_UNITS or (
        quantity.better == "higher" and quantity.unit.endswith("/s"))


def is_quantile(quantity: Quantity) -> bool:
    return split_quantile(quantity.name) is not None


def gain(
    evidence: Evidence, cell: Cell, subject: str, rival: str
) -> tuple[PairedRatio | None, str]:
    """How many times better the subject is than the rival, from their pairs, and a note."""
    row = evidence.table[cell]
    if quantity_of(evidence, cell).better == "higher":
        return ratio_of(row[subject], row[rival])
    return ratio_of(row[rival], row[subject])


def is_main(quantity: Quantity) -> bool:
    """A throughput or a mean time; quantiles of single calls are rows of their own kind."""
    return is_speed(quantity) and not is_quantile(quantity)


def main_rows(evidence: Evidence, family: str) -> list[Cell]:
    """Every cell of every main quantity of the family's experiments, in reading order."""
    found: list[Cell] = []
    for experiment in evidence.stored.run.experiments:
        if experiment.family == family:
            cells = [c for c in evidence.table
                     if c.experiment == experiment.id and is_main(quantity_of(evidence, c))]
            found += sorted(cells, key=lambda c, e=experiment: place(e, c))  # type: ignore[misc]
    return found


def peak_row(evidence: Evidence, cell: Cell) -> Cell | None:
    """Where the peak memory of the same processes stands; None where nobody measured it."""
    found = Cell(cell.experiment, cell.parameters, PEAK)
    return found if found in evidence.table else None


def mean_gain(evidence: Evidence, cells: list[Cell], subject: str,
              rival: str) -> tuple[CombinedRatio | None, str]:
    """The geometric mean of ``gain`` over the cells, and a note.

    None where one of them was not measured in some cell: over survivors it would be no mean.
    """
    rows: dict[str, Pair] = {}
    notes: dict[str, None] = {}
    for cell in cells:
        row = evidence.table[cell]
        if subject not in row or rival not in row:
            return None, f"not measured in {cell.experiment} {cell.parameters}"
        first, second = (subject, rival) if quantity_of(evidence, cell).better == "higher" else (
            rival, subject)
        pairs = pair(row[first], row[second])
        if not pairs.above or min(*pairs.above, *pairs.below) <= 0:
            return None, f"no ratio in {cell.experiment} {cell.parameters}"
        rows["/".join(cell)] = pairs.above, pairs.below
        if pairs.note:
            notes[REPEATS_NOTE] = None
    if not rows:
        return None, "no row to take a mean of"
    found = combined_ratio(rows)
    return found, "; ".join(note for note in (found.note, *notes) if note)
