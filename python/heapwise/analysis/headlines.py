"""The ratios that the seeds print, and those against the best that a user would take instead.

Each line is computed from pairs, as the rows are; whether a goal is met is computed from the line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from heapwise.analysis.quantile_name import split_quantile
from heapwise.analysis.rows import Bench, place
from heapwise.analysis.seed_figures import seed_ratio
from heapwise.analysis.units import TIME_UNITS, significant, times
from heapwise.model import Experiment
from heapwise.stats.paired import PairedRatio
from heapwise.trust.series import Cell, Series, ratio_of

POLICIES = ("unsynchronized", "mutex", "lock_free", "thread_cached", "thread_cached_handle")
"""Our pool's policies, by the names of their subjects."""


@dataclass(frozen=True)
class Goal:
    """What the project aims at: ``above`` takes at least ``factor`` times as long as ``below``.

    above: a subject, or ``best malloc``, ``fastest other pool``, ``every other pool``.
    """

    experiment: str
    above: str
    below: str
    factor: float
    quantities: tuple[str, ...] = ()
    threads: tuple[int, ...] | None = None
    touch: str = ""

    def covers(self, cell: Cell) -> bool:
        parameters = json.loads(cell.parameters)
        return (cell.experiment == self.experiment
                and (not self.quantities or cell.quantity in self.quantities)
                and (self.threads is None or parameters.get("threads") in self.threads)
                and parameters.get("touch", self.touch) == self.touch)


GOALS = (
    Goal("pool/interleaved", "best malloc", "unsynchronized", 4.0),
    Goal("pool/interleaved", "fastest other pool", "unsynchronized", 0.97),
    Goal("pool/bulk", "fastest other pool", "unsynchronized", 1.5, ("free", "alloc_reused"),
         touch="none"),
    Goal("pool/concurrent", "best malloc", "thread_cached", 2.0, threads=(4,)),
    Goal("pool/concurrent", "unsynchronized", "thread_cached", 0.5, threads=(1,)),
    Goal("pool/concurrent", "mutex", "lock_free", 1.0, threads=(2, 4, 8)),
)


def headlines(bench: Bench) -> list[str]:
    """For each cell of a pool experiment that times operations; empty for other runs."""
    found: list[str] = []
    for experiment in bench.stored.run.experiments:
        if experiment.family != "pool":
            continue
        for cell, row in sorted(bench.table.items(), key=lambda c: place(experiment, c[0])):
            if cell.experiment == experiment.id and _timing(experiment, cell):
                found += _of_cell(bench, experiment, cell, row)
    return list(dict.fromkeys(found))


def _timing(experiment: Experiment, cell: Cell) -> bool:
    """Mean times per operation; the quantiles of a latency experiment have a figure instead."""
    unit = next((q.unit for q in experiment.quantities if q.name == cell.quantity), "")
    return unit in TIME_UNITS and not split_quantile(cell.quantity)


def _of_cell(bench: Bench, experiment: Experiment, cell: Cell, row: dict[str, Series]) -> list[str]:
    threads = json.loads(cell.parameters).get("threads")
    below = "thread_cached" if threads and threads > 1 else "unsynchronized"
    wanted = [(above, below) for above in ("malloc@glibc", "best malloc", "fastest other pool")]
    wanted += [(g.above, g.below) for g in GOALS if g.covers(cell)]
    lines = []
    for above, under in dict.fromkeys(wanted):
        name = resolve(bench, row, above)
        if name is None or under not in row or name == under:
            continue
        ratio, _ = ratio_of(row[name], row[under])
        if ratio is not None:
            goal = "" if bench.stored.run.plan.smoke else _goal(cell, above, under, ratio)
            lines.append(f"{label(bench, cell)}: {_who(above, name)} / {under} = {_figures(ratio)}"
                         f"{_seed(experiment, cell, name, under)}{goal}")
    return lines


def resolve(bench: Bench, row: dict[str, Series], role: str) -> str | None:
    """The subject that plays a role in this cell: the one with the least median."""
    controls = {n for n, s in bench.subjects().items() if s.control}
    mallocs = [n for n in row if n.startswith("malloc@") and n not in controls]
    others = [n for n in row if n not in (*POLICIES, *mallocs, *controls) and "@" not in n]
    groups = {"best malloc": mallocs, "fastest other pool": others}
    names = groups.get(role, [role] if role in row else [])
    return min(names, key=lambda n: float(np.median(row[n].values)), default=None)


def label(bench: Bench, cell: Cell) -> str:
    """``bulk alloc_fresh``, with the parameters that differ between cells of the experiment."""
    mine = json.loads(cell.parameters)
    every = [json.loads(c.parameters) for c in bench.table if c.experiment == cell.experiment]
    varying = [k for k in mine if len({str(p.get(k)) for p in every}) > 1]
    words = [cell.experiment.rpartition("/")[2], cell.quantity]
    return " ".join([*words, *(f"{k}={mine[k]}" for k in varying)])


def _who(role: str, name: str) -> str:
    return name if role == name else f"{role} ({name})"


def _figures(ratio: PairedRatio) -> str:
    if ratio.low is None or ratio.high is None:
        return times(ratio.ratio)
    return f"{times(ratio.ratio)}, {significant(ratio.low)} to {significant(ratio.high)}"


def _seed(experiment: Experiment, cell: Cell, above: str, below: str) -> str:
    parameters = {**json.loads(cell.parameters), "quantity": cell.quantity}
    ratio = seed_ratio(experiment, above, below, parameters)
    return f" (seed: {ratio:.2f}x)" if ratio else ""


def _goal(cell: Cell, above: str, below: str, ratio: PairedRatio) -> str:
    for goal in GOALS:
        if goal.covers(cell) and (goal.above, goal.below) == (above, below):
            met = "met" if ratio.ratio >= goal.factor else "missed"
            return f" [goal {significant(goal.factor, 2)}x: {met}]"
    return ""
