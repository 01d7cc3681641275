"""Two stored runs: an unpaired comparison where one is possible, else a description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from heapwise.analysis.across_runs.recorded_facts import builds
from heapwise.analysis.across_runs.runs_like import FigurePlace, place_in
from heapwise.analysis.verdicts.rows import NOT_FINISHED, outcome_of
from heapwise.analysis.verdicts.verdict import judge
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.series import Series
from heapwise.machine import machine_fingerprint
from heapwise.model import Cell, Difference, DifferenceRow, LostRow, Run, Subject, unlike_work
from heapwise.stats.claims.limits import FALSE_FAILURES
from heapwise.stats.ratios.between_runs import LEAST, BetweenRuns
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.stats.ratios.unpaired import unpaired_ratio
from heapwise.stats.series.dependence import untested
from heapwise.store import RunPoints, points_of
from heapwise.trust import check_run
from heapwise.wording.lists import listed

LIMITATION = (
    "These runs were not measured side by side. What changed on the machine between them "
    "is part of each difference, so this is weaker than heapwise compare."
)


WHICH = ("first", "second")


def difference(
    first: Evidence,
    second: Evidence,
    spreads: Mapping[FigurePlace, BetweenRuns] | None = None,
    relative: Mapping[FigurePlace, BetweenRuns] | None = None,
) -> Difference:
    """Compares every subject and cell that both runs have. There is a verdict only if the machine,
    this program's version and build, and the work are the same.

    spreads: how much figures differ from run to run, where the store tells (``runs_like``);
    relative: the same of figures over those of their baselines.
    """
    reasons = [*obstacles(first, second), *_untrusted(first, second)]
    runs = _Runs(first, second, spreads or {}, relative or {})
    rows = [
        _row(cell, subject, runs, described=bool(reasons))
        for cell in first.table
        if cell in second.table
        for subject in first.table[cell]
        if subject in second.table[cell]
        and subject not in first.control_names
        and (cell.experiment, cell.quantity) in second.quantities
    ]
    one, other = first.stored.run, second.stored.run
    lost = [] if obstacles(first, second) else _lost(runs)
    found = [] if reasons else [*_notes(one, other), *runs.notes(rows)]
    told = dict.fromkeys([*(row.note for row in rows if row.note), *(row.why for row in lost)])
    return Difference(one.id, other.id, reasons, rows, [*found, *told], lost)


def obstacles(first: Evidence, second: Evidence) -> list[str]:
    """Why figures of the two runs cannot be compared; empty if they can."""
    one, other = first.stored.run, second.stored.run
    found = []
    if machine_fingerprint(one.machine) != machine_fingerprint(other.machine):
        found.append(f"the machines differ: {_machine(one, other)}, and {_machine(other, one)}")
    if one.version != other.version:
        found.append(f"Heapwise {one.version} measured one run and {other.version} the other")
    if builds(first) != builds(second):
        said = [listed(map(str, builds(each))) or "unknown" for each in (first, second)]
        found.append(f"the experiments were compiled differently: {said[0]}, and {said[1]}")
    if one.plan.kind != other.plan.kind:
        found.append("one run compares a program, and the other runs experiments")
    elif unlike := unlike_work(one.plan, other.plan):
        found.append(f"the work differs: {listed(unlike)}")
    return found


def _untrusted(first: Evidence, second: Evidence) -> list[str]:
    """The runs that are not trustworthy, each with the first check that failed."""
    return [
        f"the {which} run is not trustworthy: {check.id} {check.detail.rstrip('.')}"
        for which, trust in zip(WHICH, map(check_run, (first, second)), strict=True)
        for check in [check for check in trust.checks if check.verdict == "fail"][:1]
        if trust.verdict == "not trustworthy"
    ]


def _lost(runs: _Runs) -> list[LostRow]:
    """Subjects of which one run has a figure, and not the other, or that failed in all of both."""
    both = (runs.first, runs.second)
    cells = dict.fromkeys(cell for each in both for cell in each.table)
    found = []
    for cell in cells:
        tried = [name for each in both for name in each.tried.get(cell.setup, {})]
        unit = next(
            each.quantities[(cell.experiment, cell.quantity)].unit
            for each in both
            if cell in each.table
        )
        for subject in dict.fromkeys(tried):
            known = [subject in each.table.get(cell, {}) for each in both]
            if all(known) or any(subject in each.control_names for each in both):
                continue
            missing = f"the {WHICH[known[0]]} run has no such figure of {subject}"
            why = runs.failure(cell, subject) or (missing if any(known) else "")
            if why:
                found.append(LostRow(cell, subject, unit, why))
    return found


def _machine(run: Run, other: Run) -> str:
    """What tells it from the other one."""
    names = {
        "name": "name",
        "cpu": "cpu",
        "cores": "cores",
        "memory_bytes": "bytes of memory",
        "kernel": "kernel",
        "libc": "libc",
    }
    return listed(
        (
            f"{word} {getattr(run.machine, name)}"
            for name, word in names.items()
            if getattr(run.machine, name) != getattr(other.machine, name)
        ),
        len(names),
    )


def _notes(one: Run, other: Run) -> list[str]:
    found = []
    if _programs(one) != _programs(other):
        found.append("the program's file is not the same in both runs")
    hosts = [run.machine.host for run in (one, other)]
    if hosts[0] != hosts[1] and not one.machine.name:
        found.append(
            f"the hosts {hosts[0]} and {hosts[1]} have equal hardware, and may be two "
            "machines; HEAPWISE_MACHINE=NAME names one"
        )
    return found


def _programs(run: Run) -> set[str]:
    return {
        state.sha256
        for name, state in (run.plan.options.files or {}).items()
        if name.startswith("program")
    }


@dataclass(frozen=True)
class _Runs:
    first: Evidence
    second: Evidence
    spreads: Mapping[FigurePlace, BetweenRuns]
    relative: Mapping[FigurePlace, BetweenRuns]

    @cached_property
    def _points(self) -> RunPoints:
        return points_of(self.first.stored)

    def spread(self, cell: Cell, subject: str) -> BetweenRuns | None:
        return self.spreads.get(place_in(self._points, cell, subject))

    def relative_spread(self, cell: Cell, subject: str) -> BetweenRuns | None:
        return self.relative.get(place_in(self._points, cell, subject))

    @cached_property
    def unchanged(self) -> set[str]:
        """Baselines whose library and program are the same in both runs."""
        one, other = self.first, self.second
        if _programs(one.stored.run) != _programs(other.stored.run):
            return set()
        bases = set(one.baselines.values()) & set(other.baselines.values())
        return {
            name
            for name in bases
            if len({_library(each.subjects.get(name)) for each in (one, other)}) == 1
        }

    def failure(self, cell: Cell, subject: str, *others: str) -> str:
        """``jemalloc crashed 3 of 20 in the second run``; others: names of the same. "" if all of
        both runs did their work."""
        for which, each in zip(WHICH, (self.first, self.second), strict=True):
            status, words = outcome_of(each, cell.setup, {subject, *others})
            if status in NOT_FINISHED:
                return f"{subject} {words} in the {which} run"
        return ""

    def trouble(self, cell: Cell, subject: str) -> str:
        """The failure of the subject, or of its baseline."""
        own = self.failure(cell, subject)
        base = self.first.baselines.get(cell.experiment, "")
        return own or self.failure(cell, base, self.first.controls.get(cell.experiment, ""))

    def notes(self, rows: list[DifferenceRow]) -> list[str]:
        found = []
        if any(row.relative_to for row in rows):
            found.append(
                f"rows of other subjects than {listed(sorted(self.unchanged))}, which is the same "
                "in both runs, are relative to it"
            )
        if any(row.verdict == "cannot tell" and row.low is None and not row.note for row in rows):
            found.append(
                f"two runs do not tell how much runs differ: with {LEAST} runs of the same in the "
                "store, the others have verdicts too"
            )
        return found


def _library(subject: Subject | None) -> tuple[str, str] | None:
    if subject is None or subject.peer is None:
        return None
    return subject.peer.version, subject.peer.build_id


def _row(cell: Cell, subject: str, runs: _Runs, *, described: bool) -> DifferenceRow:
    quantity = runs.first.quantities[(cell.experiment, cell.quantity)]
    series = [each.table[cell][subject] for each in (runs.first, runs.second)]
    before, after = (one.middle for one in series)
    row = DifferenceRow(
        cell,
        subject,
        quantity.unit,
        before,
        after,
        ratio=after / before if min(before, after) > 0 else None,
        low=None,
        high=None,
        verdict="none",
    )
    if described:
        return row
    if trouble := runs.trouble(cell, subject):
        return replace(row, verdict="cannot tell", note=trouble)
    if not all(map(_is_positive, series)):
        return row
    if compared := _relative(cell, subject, runs):
        base, ratio = compared
    elif spread := runs.spread(cell, subject):
        base, ratio = "", _absolute(series, spread)
    else:
        return replace(row, verdict="cannot tell")
    floors = [comparisons_of(each).floors.get(cell) for each in (runs.first, runs.second)]
    floor = max((floor for floor in floors if floor is not None), default=None)
    return replace(
        row,
        ratio=ratio.ratio,
        low=ratio.low,
        high=ratio.high,
        verdict=judge(ratio, quantity.better, floor),
        relative_to=base,
        least=(ends := ratio.ends(1 - 2 * FALSE_FAILURES)) and ends[0],
    )


def _absolute(series: list[Series], spread: BetweenRuns) -> PairedRatio:
    found = unpaired_ratio(list(series[1].rounds.values()), list(series[0].rounds.values()))
    return spread.widened(found.widened(1.0, untested().strict_factor))


def _relative(cell: Cell, subject: str, runs: _Runs) -> tuple[str, PairedRatio] | None:
    """The baseline, and the subject's ratio to it in the second run over that in the first. What
    changed on the machine changed both."""
    base = runs.first.baselines.get(cell.experiment, "")
    if base not in runs.unchanged or subject == base:
        return None
    ratios = []
    for each in (runs.second, runs.first):
        if base not in each.table[cell]:
            return None
        pairs = comparisons_of(each).pairs((cell, subject), (cell, base))
        if not pairs.has_ratio:
            return None
        ratios.append(
            [above / below for above, below in zip(pairs.above, pairs.below, strict=True)]
        )
    found = unpaired_ratio(ratios[0], ratios[1]).widened(1.0, untested().strict_factor)
    spread = runs.relative_spread(cell, subject)
    return base, spread.widened(found) if spread else found


def _is_positive(series: Series) -> bool:
    return min(series.rounds.values()) > 0
