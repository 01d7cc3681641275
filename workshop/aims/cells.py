"""The cells of a run that an aim is about, and why there may be none."""

from __future__ import annotations

from fnmatch import fnmatchcase

from heapwise.analysis.verdicts.gain import PEAK, is_main, is_speed, quantity_of
from heapwise.analysis.verdicts.rows import place
from heapwise.evidence import Evidence
from heapwise.model import Cell, Experiment, same_setting
from workshop.aims.declared import Aim, LimitAim, MeanAim, RowAim

WALL = "wall"

ONE_PROCESSOR = "threads do not contend on one processor"


def experiment_of(aim: Aim) -> str:
    return aim.experiments if isinstance(aim, RowAim | MeanAim) else aim.experiment


def covered(evidence: Evidence, aim: RowAim | MeanAim) -> list[Cell]:
    """Cells of experiments that have ``ours`` among their subjects, measured there or not."""
    found: list[Cell] = []
    for experiment in evidence.stored.run.experiments:
        if not _means(aim, experiment) or aim.ours not in {
            spec.name for spec in experiment.subjects
        }:
            continue
        cells = [
            c for c in evidence.table if c.experiment == experiment.id and _fits(evidence, aim, c)
        ]
        found += sorted(cells, key=lambda c, e=experiment: place(e, c))  # type: ignore[misc]
    return found


def _means(aim: RowAim | MeanAim, experiment: Experiment) -> bool:
    """Programs spend little of their time in malloc: aims for all other rows are not for them."""
    if experiment.programs:
        return experiment.id == aim.experiments
    return fnmatchcase(experiment.id, aim.experiments)


def _fits(evidence: Evidence, aim: RowAim | MeanAim, cell: Cell) -> bool:
    if not is_where(aim, cell) or cell.is_diagnostic:
        return False
    if isinstance(aim, RowAim) and aim.quantities:
        return cell.quantity in aim.quantities
    if aim.rows in ("peak", "wall"):
        return cell.quantity == (PEAK if aim.rows == "peak" else WALL)
    quantity = quantity_of(evidence, cell)
    return is_speed(quantity) if aim.rows == "speed" else is_main(quantity)


def is_where(aim: RowAim | MeanAim | LimitAim, cell: Cell) -> bool:
    return all(
        any(
            same_setting(cell.parameters.get(name), one)
            for one in (values if isinstance(values, list) else [values])
        )
        for name, values in aim.where.items()
    )


def cells_of(evidence: Evidence, id: str) -> list[Cell]:
    """In the order of the quantities, so that the first of several that fit comes first."""
    experiment = next((e for e in evidence.stored.run.experiments if e.id == id), None)
    if experiment is None:
        return []
    return sorted(
        (c for c in evidence.table if c.experiment == id and not c.is_diagnostic),
        key=lambda c: place(experiment, c)[::-1],
    )


def obstacle_of(evidence: Evidence, cell: Cell) -> str:
    threads = cell.parameters.number("threads", 1)
    alone = evidence.stored.run.machine.cores < 2
    return ONE_PROCESSOR if alone and threads > 1 else ""


def why_unmeasured(evidence: Evidence, experiments: str, ours: str) -> str:
    fitting = [e for e in evidence.stored.run.experiments if fnmatchcase(e.id, experiments)]
    if not fitting:
        return f"{experiments} is not in this run"
    if not any(ours in {spec.name for spec in e.subjects} for e in fitting):
        return f"{ours} is not in this run"
    return "nothing was measured to the end"
