"""A published report beside a run of its experiments: our figures, and its conclusions judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod

import numpy as np

from heapwise.analysis.provenance import Provenance, provenance
from heapwise.analysis.verdicts.expectations import SMOKE, trouble_of, value_of
from heapwise.analysis.verdicts.rows import make_rows
from heapwise.analysis.verdicts.verdict import Figure, floor_of, kept
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.series import Series, Side, pair
from heapwise.model import (
    Cell,
    Conclusion,
    FigureKey,
    Formula,
    PublishedFigure,
    PublishedReport,
    PublishedTable,
    Result,
    Row,
    Setting,
    Settings,
    Statement,
    SubjectName,
    SubjectSpec,
    Trust,
    settle,
)
from heapwise.stats.series.center import location_interval
from heapwise.study.reproduce.author import AuthorFigures
from heapwise.study.reproduce.judged import (
    SIZE_WORDS,
    SIZES,
    VERDICTS,
    ConclusionVerdict,
    JudgedConclusion,
    JudgedStatement,
    SizeVerdict,
    counts_of,
    size_together,
    together,
    verdict_of,
)
from heapwise.study.reproduce.ours import Ours

LEAST_REPEATS = 3
"""The least repeats of a process, for its standard deviation."""

OF_REPEATS: dict[str, Callable[[Sequence[float]], float]] = {
    "spread": lambda values: float(np.std(values, ddof=1)),
    "peak": max,
}
"""Statistic -> what it takes of the repeats of a process, before it is divided by their median."""


@dataclass(frozen=True)
class MeasuredRun:
    """``noise``: experiment -> the difference that would be found in it, for one that is known."""

    evidence: Evidence
    trust: Trust
    noise: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, evidence: Evidence, result: Result) -> MeasuredRun:
        known = {
            each.experiment: each.difference
            for each in result.detectable
            if each.difference is not None
        }
        return cls(evidence, result.trust, known)


@dataclass(frozen=True)
class ReproducedTable:
    """``ours``: a line for each row of ``table``, with a figure for each of its columns.
    ``author``: the same of the author's program; empty if its output is not here."""

    table: PublishedTable
    ours: list[list[Ours]]
    author: list[list[Ours]] = field(default_factory=list)

    @property
    def by_author(self) -> list[list[Ours]]:
        """``author``, without values if its output is not here."""
        return self.author or [[Ours(None)] * len(self.table.columns)] * len(self.ours)


@dataclass(frozen=True)
class Reproduced:
    """``programs``: of the rows whose figures are those of whole programs. ``changes``: parameters
    with their values in this run instead of the report's. ``author_files``: the output of the
    author's program; ``unused``: its records that answer no figure of the report."""

    report: PublishedReport
    tables: list[ReproducedTable]
    conclusions: list[JudgedConclusion]
    programs: list[Provenance] = field(default_factory=list)
    changes: dict[str, Setting] = field(default_factory=dict)
    author_files: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    run_of: dict[str, str] = field(default_factory=dict)
    """Experiment -> the run that it is from. Empty if all are from one."""

    @property
    def by_author(self) -> list[JudgedConclusion]:
        """The conclusions as the figures of the author's program judge them."""
        return [judged.author for judged in self.conclusions if judged.author]

    @property
    def counts(self) -> dict[ConclusionVerdict, int]:
        """Conclusions by verdict, zeros included."""
        return counts_of(self.conclusions, lambda judged: judged.verdict, VERDICTS)

    @property
    def size_counts(self) -> dict[SizeVerdict, int]:
        """Conclusions that have a size, by its verdict; zeros included."""
        return counts_of(self.conclusions, lambda judged: judged.size, SIZES)


def reproduce(
    evidence: Evidence,
    report: PublishedReport,
    trust: Trust,
    changes: Mapping[str, Mapping[str, Setting]] | None = None,
) -> Reproduced:
    """Works for a run that was stopped, too, and names what was not measured. changes: experiment
    -> settings instead of the report's; None: those of the run's plan."""
    return reproduce_from([MeasuredRun(evidence, trust)], report, changes)


def reproduce_from(
    runs: Sequence[MeasuredRun],
    report: PublishedReport,
    changes: Mapping[str, Mapping[str, Setting]] | None = None,
) -> Reproduced:
    """Each figure is from the run in which its experiments have the least noise. The output of the
    author's program is that of the first run. changes: as of ``reproduce``."""
    found = _Finders(runs, changes)
    planned = runs[0].evidence.stored.run.plan.options.reproduction
    outputs = planned.author_outputs if planned else []
    author = AuthorFigures(report, outputs)
    tables = [
        ReproducedTable(
            table,
            [[found.of(figure.ours).ours(figure) for figure in row.figures] for row in table.rows],
            [[author.figure(figure) for figure in row.figures] for row in table.rows]
            if outputs
            else [],
        )
        for table in report.tables
    ]
    return Reproduced(
        report,
        tables,
        [_judged(found, author, conclusion) for conclusion in report.conclusions],
        found.first.programs(report),
        found.first.changes,
        [output.file for output in outputs],
        author.unused,
        found.run_of(report),
    )


def _judged(found: _Finders, author: AuthorFigures, conclusion: Conclusion) -> JudgedConclusion:
    cores = found.first.evidence.stored.run.machine.cores
    if conclusion.impossible:
        return JudgedConclusion(conclusion, "not possible here", conclusion.impossible)
    if cores < conclusion.processors:
        return JudgedConclusion(
            conclusion,
            "not possible here",
            f"it takes {conclusion.processors} processors, and here is {cores}",
        )
    chosen = [found.of(statement.formula) for statement in conclusion.statements]
    parts = [
        run.judge(statement) for run, statement in zip(chosen, conclusion.statements, strict=True)
    ]
    (verdict, reason), size = together(parts), size_together(parts)
    obstacle = next((run.obstacle for run in chosen if run.obstacle), "")
    if obstacle and verdict != "not possible here":
        verdict, reason = "cannot tell here", obstacle
        size = size and "cannot tell here"
    return JudgedConclusion(conclusion, verdict, reason, parts, size, author.judge(conclusion))


class _Finders:
    """Chooses among runs by the noise of their experiments."""

    def __init__(
        self,
        runs: Sequence[MeasuredRun],
        changes: Mapping[str, Mapping[str, Setting]] | None,
    ) -> None:
        self._all = [_Finder(run, changes) for run in runs]
        self.first = self._all[0]

    def of(self, formula: Formula | None) -> _Finder:
        """The run with the least noise of those that have its figures; the first if none has."""
        if formula is None or len(self._all) == 1:
            return self.first
        able = [each for each in self._all if each.has(formula)] or self._all
        return min(able, key=lambda each: each.noise_of(formula))

    def run_of(self, report: PublishedReport) -> dict[str, str]:
        if len(self._all) == 1:
            return {}
        found: dict[str, str] = {}
        for formula in (Formula((place,)) for place in report.places):
            chosen = self.of(formula)
            if chosen.has(formula):
                found.setdefault(formula.above[0].experiment, chosen.evidence.stored.run.id)
        return found


class _Finder:
    """Looks for the figures of a report in a run."""

    def __init__(
        self, run: MeasuredRun, changes: Mapping[str, Mapping[str, Setting]] | None
    ) -> None:
        evidence = run.evidence
        planned = evidence.stored.run.plan.options.reproduction
        self.evidence = evidence
        self._changes = (planned.changes if planned else {}) if changes is None else changes
        self._noise = run.noise
        self._trust = run.trust
        self._rows = {(row.cell, row.subject): row for row in make_rows(evidence)}

    @property
    def obstacle(self) -> str:
        """Why no verdict can be given; "" if one can."""
        if self.evidence.stored.run.plan.smoke:
            return SMOKE
        return "the figures are not trustworthy" if self._trust.verdict == "not trustworthy" else ""

    def has(self, formula: Formula) -> bool:
        return self._trouble(formula) is None

    def noise_of(self, formula: Formula) -> float:
        return max(self._noise.get(place.experiment, inf) for place in formula.places)

    @property
    def changes(self) -> dict[str, Setting]:
        return {name: value for of_one in self._changes.values() for name, value in of_one.items()}

    def programs(self, report: PublishedReport) -> list[Provenance]:
        """Each subject once, in the order of the tables."""
        found: dict[Side, Provenance] = {}
        for row in (row for table in report.tables for row in table.rows):
            place = row.figures[0].ours and row.figures[0].ours.value_of
            experiment = place and self.evidence.experiments.get(place.experiment)
            if place and experiment and experiment.is_of_programs:
                side = self._side(place)
                found.setdefault(side, provenance(self.evidence, side, row.title, row.note))
        return list(found.values())

    def ours(self, figure: PublishedFigure) -> Ours:
        if figure.ours is None:
            return Ours(None, note=figure.reason)
        if trouble := self._trouble(figure.ours):
            return Ours(None, note=trouble[1])
        place = figure.ours.value_of
        if place is None:
            ratio = self._ratio(figure.ours)
            return (
                Ours(None, note=ratio)
                if isinstance(ratio, str)
                else _scaled(figure, ratio.value, ratio.low, ratio.high)
            )
        row = self._rows.get(self._side(place))
        if row is None:
            return Ours(None, note=f"{place.subject} has no {place.quantity}")
        if figure.statistic == "median":
            return _scaled(figure, row.median, row.ci_low, row.ci_high)
        return _scaled(figure, _statistic(row, figure.statistic), None, None)

    def judge(self, statement: Statement) -> JudgedStatement:
        words = statement.words
        if trouble := self._trouble(statement.formula):
            size: SizeVerdict = "not possible here" if trouble[0] == "not possible here" else ""
            size = (size or "cannot tell here") if statement.size else ""
            return JudgedStatement(words, None, None, None, *trouble, size, statement.published)
        figure = self._figure(statement)
        if isinstance(figure, str):
            unknown: SizeVerdict = "cannot tell here" if statement.size else ""
            return JudgedStatement(
                words, None, None, None, "cannot tell here", figure, unknown, statement.published
            )
        places = statement.formula.places
        floor = (
            None
            if any(p.statistic in OF_REPEATS for p in places)
            else floor_of(self.evidence, map(self._side, places))
        )
        verdict = verdict_of(statement, figure, floor)
        size = SIZE_WORDS[kept(figure, *statement.size, floor)] if statement.size else ""
        low, high = figure.strict or (figure.low, figure.high)
        notes = [note for note in (figure.note, self._crowded(places)) if note]
        return JudgedStatement(
            words,
            figure.value,
            low,
            high,
            verdict,
            "; ".join(notes),
            size,
            statement.published,
        )

    def _figure(self, statement: Statement) -> Figure | str:
        place = statement.formula.value_of
        if place is None:
            return self._ratio(statement.formula)
        if place.statistic in OF_REPEATS and not self._rounds(place):
            return f"no process has {LEAST_REPEATS} repeats"
        return self._value(place, never=statement.at_most == 0).times(statement.formula.factor)

    def _side(self, place: FigureKey) -> Side:
        experiment = self.evidence.experiments[place.experiment]
        settings = settle(experiment, place.parameters, self._changes.get(place.experiment, {}))
        return Cell(place.experiment, Settings.of(settings), place.quantity), place.subject

    def _trouble(self, formula: Formula) -> tuple[ConclusionVerdict, str] | None:
        """Why there is no figure, and whether there could have been one."""
        for place in formula.places:
            experiment = self.evidence.experiments.get(place.experiment)
            if experiment is None:
                return "not possible here", f"{place.experiment} is not in this run"
            spec = experiment.spec(place.subject)
            if spec is None or not spec.available:
                return "not possible here", f"{place.subject}: {_absence(place, spec)}"
            if place.quantity not in {quantity.name for quantity in experiment.quantities}:
                return "not possible here", f"{place.experiment} has no {place.quantity}"
            if trouble := trouble_of(self.evidence, self._side(place)):
                return "cannot tell here", trouble[1]
        return None

    def _value(self, place: FigureKey, *, never: bool) -> Figure:
        if place.statistic in OF_REPEATS:
            values = list(self._rounds(place).values())
            found = location_interval(values)
            middle = float(np.median(values)) if values else float("nan")
            return Figure(middle, found.low, found.high, found.note)
        return value_of(self.evidence, self._side(place), never=never)

    def _ratio(self, formula: Formula) -> Figure | str:
        """The ratio of two medians of one experiment is as everywhere else. That of others is from
        the products of each round, with the widest allowance for rounds that depend on each
        other."""
        above, below = formula.above, formula.below
        places = formula.places
        is_plain = len(above) == len(below) == 1 and above[0].experiment == below[0].experiment
        is_plain = is_plain and formula.factor == 1
        if is_plain and all(place.statistic == "median" for place in places):
            ratio, note = comparisons_of(self.evidence).ratio(
                self._side(above[0]), self._side(below[0])
            )
            return note if ratio is None else Figure.of(ratio, note)
        found, note = pair(self._product(above), self._product(below)).ratio()
        if found is None:
            return note
        tied = [comparisons_of(self.evidence).dependence[place.experiment] for place in places]
        step = sum(comparisons_of(self.evidence).step(*self._side(place)) for place in places) / 2
        widened = found.widened(
            max(t.factor for t in tied), max(t.strict_factor for t in tied)
        ).blurred(step)
        return Figure.of(widened, note).times(formula.factor)

    def _product(self, places: tuple[FigureKey, ...]) -> dict[int, float]:
        """Round -> product, of the rounds in which each was measured."""
        rounds = [self._rounds(place) for place in places]
        shared = set.intersection(*(set(values) for values in rounds))
        return {number: prod(values[number] for values in rounds) for number in sorted(shared)}

    def _rounds(self, place: FigureKey) -> dict[int, float]:
        cell, subject = self._side(place)
        series = self.evidence.table[cell][subject]
        measure = OF_REPEATS.get(place.statistic)
        return _of_repeats(series, measure) if measure else series.rounds

    def _crowded(self, places: tuple[FigureKey, ...]) -> str:
        cores = self.evidence.stored.run.machine.cores
        threads = max(self._side(place)[0].parameters.number("threads", 1) for place in places)
        return f"{threads:g} threads on {cores} processors" if threads > cores else ""


def _absence(place: FigureKey, spec: SubjectSpec | None) -> str:
    if spec is not None:
        return spec.reason
    peer = SubjectName.parse(place.subject).peer
    return (
        f"{peer} is not installed: heapwise peers list" if peer else ("this build does not have it")
    )


def _of_repeats(series: Series, measure: Callable[[Sequence[float]], float]) -> dict[int, float]:
    """Round -> a measure of the repeats of its process over their median."""
    groups: dict[int, list[float]] = {}
    for (number, _), value in series.repeats.items():
        groups.setdefault(number, []).append(value)
    return {
        number: float(measure(values) / np.median(values))
        for number, values in groups.items()
        if len(values) >= LEAST_REPEATS
    }


def _statistic(row: Row, name: str) -> float | None:
    found: float | None = getattr(row, {"sd": "stddev"}.get(name, name))
    return found


def _scaled(
    figure: PublishedFigure, value: float | None, low: float | None, high: float | None
) -> Ours:
    def in_unit(number: float | None) -> float | None:
        return None if number is None else (number - figure.offset) / figure.scale

    note = "" if value is not None else "no figure"
    return Ours(in_unit(value), in_unit(low), in_unit(high), note)
