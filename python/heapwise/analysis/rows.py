"""Every subject x cell x quantity, measured or not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from heapwise.analysis.seed_figures import seed_value
from heapwise.analysis.verdict import judge
from heapwise.model import Experiment, Process, Quantity, Row, Subject
from heapwise.stats.interval import Interval
from heapwise.stats.noise import NoiseFloor
from heapwise.stats.quantiles import median_interval
from heapwise.stats.summary import summarise
from heapwise.store import StoredRun
from heapwise.trust.claims import Claim, claims
from heapwise.trust.kept import planted, timed
from heapwise.trust.series import (
    REPEATS_NOTE,
    ROUNDS_NEEDED,
    Cell,
    Series,
    Table,
    baseline_of,
    parameters_key,
    ratio_of,
    tabulate,
)
from heapwise.trust.v05_same_twice import noise_floors

CONTROL_NOTE = "the baseline under a second name (A/A); never ranked"

YARDSTICK = "empty_loop"
"""The subject that does everything but the work: what the others' figures hold of the loop."""

FIGURES = ("min", "median", "mean", "max", "stddev", "ci_low", "ci_high", "ratio", "ratio_low",
           "ratio_high")
NOTHING: dict[str, Any] = dict.fromkeys(FIGURES)
LOST = "no sample was kept: V12, V13 and V26 say how many were discarded, and why"
NOT_FINISHED = ("crashed", "failed", "timed_out", "output_differs", "wrong_allocator", "refused")


@dataclass
class Bench:
    """A stored run, arranged for making rows."""

    stored: StoredRun
    table: Table = field(init=False)
    noise: dict[Cell, NoiseFloor] = field(init=False)
    floors: dict[Cell, float] = field(init=False)
    claims: dict[tuple[Cell, str], Claim] = field(init=False)
    tried: dict[tuple[str, str], dict[str, list[Process]]] = field(init=False)
    quantities: dict[tuple[str, str], Quantity] = field(init=False)
    experiments: dict[str, Experiment] = field(init=False)
    groups: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.table = tabulate(self.stored)
        self.noise = noise_floors(self.stored)
        self.floors = {cell: found.floor for cell, found in self.noise.items()}
        self.claims = {(c.cell, c.subject): c for c in claims(self.stored)}
        self.quantities = {(e.id, q.name): q for e in self.stored.run.experiments
                           for q in e.quantities}
        self.experiments = {e.id: e for e in self.stored.run.experiments}
        self.groups = {spec.name: spec.group for e in self.stored.run.experiments
                       for spec in e.subjects if spec.group}
        self._kinds = {(e.id, name): spec.group for e in self.stored.run.experiments
                       for spec in e.subjects if spec.group
                       for name in (spec.name, f"{spec.name}-control")}
        self.tried = {}
        for process in self.stored.processes:
            if timed(process):
                key = (process.experiment, parameters_key(process.parameters))
                self.tried.setdefault(key, {}).setdefault(process.subject, []).append(process)

    def planted(self, cell: Cell, subject: str) -> float:
        """Nanoseconds that a self-test added to each operation of the subject there; else 0."""
        tried = self.tried.get((cell.experiment, cell.parameters), {}).get(subject, [])
        return max(map(planted, tried), default=0.0)

    def group_of(self, experiment: str, subject: str) -> str:
        """Only subjects of one group share a ranking; "" where the experiment has no groups."""
        return self._kinds.get((experiment, subject), "")

    def subjects(self) -> dict[str, Subject]:
        return {subject.name: subject for subject in self.stored.run.plan.subjects}

    def aside(self) -> set[str]:
        """Who is shown and never ranked: controls, and the loop without the work."""
        return self.controls() | {YARDSTICK}

    def controls(self) -> set[str]:
        return {subject.name for subject in self.stored.run.plan.subjects if subject.control}


def make_rows(bench: Bench) -> list[Row]:
    """In the order of the experiments, their cells, their quantities and the plan's subjects."""
    order = {name: place for place, name in enumerate(bench.subjects())}
    rows: list[Row] = []
    for experiment in bench.stored.run.experiments:
        cells = [(p, tried) for (name, p), tried in bench.tried.items() if name == experiment.id]
        for parameters, by_subject in sorted(cells, key=lambda c: cell_place(experiment, c[0])):
            names = sorted(by_subject, key=lambda s: order.get(s, len(order)))
            for quantity in experiment.quantities:
                cell = Cell(experiment.id, parameters, quantity.name)
                rows += [_row(bench, experiment, quantity, cell, subject, by_subject[subject])
                         for subject in names if _belongs(bench, cell, subject)]
                if quantity == experiment.quantities[0]:
                    rows += _missing(experiment, quantity, cell)
    return rows


def _missing(experiment: Experiment, quantity: Quantity, cell: Cell) -> list[Row]:
    """Subjects that are not on this machine: the note says how to get them."""
    parameters = {**json.loads(cell.parameters), "quantity": quantity.name}
    return [Row(subject=spec.name, experiment=experiment.id, parameters=parameters,
                unit=quantity.unit, better=quantity.better, n=0, **NOTHING, status="missing",
                note=spec.reason, seed_value=seed_value(experiment, spec.name, parameters))
            for spec in experiment.subjects if not spec.available]


def cell_place(experiment: Experiment, parameters: str) -> list[tuple[float, str]]:
    """Numbers by size, words as the experiment lists them; the first parameter counts most."""
    chosen, found = json.loads(parameters), []
    for parameter in experiment.parameters:
        value = chosen.get(parameter.name)
        if isinstance(value, int | float):
            found.append((float(value), ""))
        else:
            known = [*parameter.default, *parameter.smoke]
            found.append((known.index(value) if value in known else len(known), str(value)))
    return found


def place(experiment: Experiment, cell: Cell) -> tuple[list[tuple[float, str]], int]:
    names = [quantity.name for quantity in experiment.quantities]
    known = names.index(cell.quantity) if cell.quantity in names else len(names)
    return cell_place(experiment, cell.parameters), known


def _belongs(bench: Bench, cell: Cell, subject: str) -> bool:
    """Not a quantity that this experiment yields in other cells or of other subjects only."""
    measured_at_all = any(c[:2] == cell[:2] and subject in row for c, row in bench.table.items())
    return subject in bench.table.get(cell, {}) or not measured_at_all


def _row(bench: Bench, experiment: Experiment, quantity: Quantity, cell: Cell, subject: str,
         processes: list[Process]) -> Row:
    parameters = {**json.loads(cell.parameters), "quantity": quantity.name}
    series = bench.table.get(cell, {}).get(subject)
    status, trouble = outcome(processes)
    base = baseline_of(bench.stored, experiment)
    seed = seed_value(experiment, subject, parameters)
    if series is None:
        trouble = trouble or LOST
        return Row(subject=subject, experiment=cell.experiment, parameters=parameters,
                   unit=quantity.unit, better=quantity.better, n=0, **NOTHING,
                   baseline=subject == base, status=status, note=trouble, seed_value=seed)
    summary = summarise(series.values)
    interval = median_interval_of(series)
    facts = _comparison(bench, quantity, cell, subject, base, status)
    notes = [trouble, facts.pop("note"), interval.note]
    return Row(subject, cell.experiment, parameters, quantity.unit, quantity.better,
               summary.n, summary.min, summary.median, summary.mean, summary.max, summary.stddev,
               interval.low, interval.high, status=status, values=list(series.values),
               note="; ".join(dict.fromkeys(n for n in notes if n)), seed_value=seed, **facts)


def _comparison(bench: Bench, quantity: Quantity, cell: Cell, subject: str, base: str,
                status: str) -> dict[str, Any]:
    row = bench.table[cell]
    nothing: dict[str, Any] = {"ratio": None, "ratio_low": None, "ratio_high": None}
    if subject == base:
        return nothing | {"baseline": True, "verdict": "baseline", "note": ""}
    if base not in row:
        return nothing | {"verdict": "cannot tell", "note": f"the baseline {base} was not measured"}
    ratio, note = ratio_of(row[subject], row[base])
    word: str = judge(ratio, quantity.better, bench.floors.get(cell))
    claim = bench.claims.get((cell, subject))
    notes = [note]
    if subject in bench.subjects() and bench.subjects()[subject].control:
        notes.append(CONTROL_NOTE)
    elif claim and word in ("better", "worse") and not claim.survives:
        notes.append(f"would not survive {claim.comparisons} comparisons at once (Holm)")
    slowed = [name for name in (subject, base) if bench.planted(cell, name)]
    if slowed:
        notes.append(f"{' and '.join(slowed)} slowed down on purpose: never ranked")
    if status != "ok" or slowed:
        word = "cannot tell"
    if ratio is not None:
        nothing = {"ratio": ratio.ratio, "ratio_low": ratio.low, "ratio_high": ratio.high}
    return nothing | {"verdict": word, "note": "; ".join(n for n in notes if n)}


def median_interval_of(series: Series) -> Interval:
    """Over the processes' medians where there are six; else over repeats, which the note says."""
    rounds = list(series.rounds.values())
    if len(rounds) >= ROUNDS_NEEDED or len(series.values) <= len(rounds):
        return median_interval(rounds)
    found = median_interval(series.values)
    if found.low is None:
        return found
    return Interval(found.low, found.high, found.confidence, found.coverage, REPEATS_NOTE)


def outcome(processes: list[Process]) -> tuple[str, str]:
    """Status and words: ``crashed``, ``crashed (SIGSEGV) 3 of 3``."""
    ended = [p for p in processes if p.status not in ("interrupted", "discarded")]
    counts = Counter(p.status for p in ended if p.status in NOT_FINISHED)
    if not counts:
        if any(p.status == "ok" for p in processes):
            return "ok", ""
        return processes[-1].status, processes[-1].reason or "no process came to its end"
    status, number = counts.most_common(1)[0]
    example = next(p for p in ended if p.status == status)
    if status == "crashed" and example.reason.startswith("crashed ("):
        return status, f"{example.reason} {number} of {len(ended)}"
    words = status.replace("_", " ")
    reason = f": {example.reason}" if example.reason else ""
    return status, f"{words} {number} of {len(ended)}{reason}"


def ranked(bench: Bench, rows: list[Row]) -> Iterator[Row]:
    """Rows that may be first or last: measured to the end as it is, by no control."""
    aside = bench.aside()
    for row in rows:
        own = {name: value for name, value in row.parameters.items() if name != "quantity"}
        cell = Cell(row.experiment, parameters_key(own), row.parameters["quantity"])
        if row.median is not None and row.status == "ok" and row.subject not in aside and (
                not bench.planted(cell, row.subject)):
            yield row
