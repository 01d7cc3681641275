"""One stored run with everything that is derived from its samples before anything is judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, Self, TypeVar

import numpy as np

from heapwise.evidence.claims import Claim, claims
from heapwise.evidence.demand import Counts, Demand, counts_of, demands_of
from heapwise.evidence.kept import (
    Candidate,
    Sieve,
    candidates,
    planted,
    sieve,
    timed,
    together,
)
from heapwise.evidence.series import (
    Pairs,
    Side,
    Table,
    baseline_of,
    control_of,
    pair,
    tabulate,
)
from heapwise.evidence.sessions import session_error
from heapwise.evidence.step import relative_step
from heapwise.model import (
    Cell,
    Experiment,
    Process,
    Quantity,
    Setup,
    Subject,
    control_name,
)
from heapwise.stats.blocks import BlockError
from heapwise.stats.dependence import Dependence, dependence, own_dependence, untested
from heapwise.stats.noise import NoiseFloor, noise_floor
from heapwise.stats.paired import PairedRatio
from heapwise.store import StoredRun

Derived = TypeVar("Derived")

HEAPS = "heap"
"""The family in which whole allocators compete."""

YARDSTICK = "empty_loop"
"""The subject that does everything but the work: what the others' figures hold of the loop."""


@dataclass(frozen=True)
class Evidence:
    """Immutable. Each property is computed at its first use, and once."""

    stored: StoredRun

    @cached_property
    def candidates(self) -> list[Candidate]:
        """Samples that may count, before the rules, in the order in which they were taken."""
        return candidates(self.stored)

    @cached_property
    def sieve(self) -> Sieve:
        """Which of the candidates the rules keep."""
        return sieve(self.candidates)

    @cached_property
    def table(self) -> Table:
        """Cell -> subject -> series of the kept samples, of quantities that are declared."""
        return {
            cell: row
            for cell, row in tabulate([*self.sieve.kept, *together(self.stored)]).items()
            if (cell.experiment, cell.quantity) in self.quantities
        }

    def _is_relative(self, cell: Cell) -> bool:
        return self.quantities[cell.experiment, cell.quantity].relative

    @cached_property
    def cells(self) -> dict[str, list[Cell]]:
        """Experiment -> its cells of the table."""
        found: dict[str, list[Cell]] = {id: [] for id in self.experiments}
        for cell in self.table:
            found.setdefault(cell.experiment, []).append(cell)
        return found

    def once(self, derive: Callable[[Self], Derived]) -> Derived:
        """What ``derive`` makes of this evidence. It is asked once, and its answer is kept."""
        if derive not in self._derived:
            self._derived[derive] = derive(self)
        found: Derived = self._derived[derive]
        return found

    @cached_property
    def _derived(self) -> dict[object, Any]:
        return {}

    @cached_property
    def sound_rounds(self) -> dict[Setup, dict[str, set[int]]]:
        """Setup -> subject -> the rounds that need not be made up."""
        found: dict[Setup, dict[str, set[int]]] = {}
        for sample in self.sieve.sound:
            found.setdefault(sample.setup, {}).setdefault(sample.subject, set()).add(sample.round)
        return found

    def paired_rounds(self, setup: Setup, subject: str) -> set[int]:
        """Rounds of the subject that can be compared; of the baseline, with its control."""
        (experiment, _), row = setup, self.sound_rounds.get(setup, {})
        labels = [
            row.get(name, set())
            for name in (self.baselines.get(experiment, ""), self.controls.get(experiment, ""))
        ]
        if subject in (self.baselines.get(experiment), self.controls.get(experiment)):
            return labels[0] & labels[1] if all(labels) else labels[0] | labels[1]
        return row.get(subject, set()) & (labels[0] | labels[1])

    @cached_property
    def baselines(self) -> dict[str, str]:
        """Experiment -> the subject that ratios are taken against."""
        return {e.id: baseline_of(self.stored, e) for e in self.stored.run.experiments}

    @cached_property
    def controls(self) -> dict[str, str]:
        """Experiment -> the second label of its baseline (A/A), where there is one."""
        found = {id: control_of(self.stored, name) for id, name in self.baselines.items()}
        return {id: control for id, control in found.items() if control is not None}

    @cached_property
    def control_pairs(self) -> dict[Cell, Pairs]:
        """The A/A pairs of each cell where baseline and control were both measured above zero."""
        found: dict[Cell, Pairs] = {}
        for cell, row in self.table.items():
            baseline, control = (
                names.get(cell.experiment, "") for names in (self.baselines, self.controls)
            )
            if baseline in row and control in row:
                pairs = pair(row[baseline].rounds, row[control].rounds)
                if pairs.has_ratio:
                    found[cell] = pairs
        return found

    def pairs(self, above: Side, below: Side) -> Pairs:
        """The rounds that both were measured in."""
        return pair(self._rounds(above, below), self._rounds(below, above))

    def ratio(self, above: Side, below: Side) -> tuple[PairedRatio | None, str]:
        """above / below with its interval, and a note; None where there is no ratio."""
        if (above, below) not in self._ratios:
            found, note = self.pairs(above, below).ratio()
            tied, own = self.dependence_of(above[0]), self.own_dependence(above, below)
            step = (self.step(*above) + self.step(*below)) / 2
            days = self._session_error(above[0])
            self._ratios[above, below] = (
                found
                and found.widened(
                    max(tied.factor, own.factor if own else 1.0),
                    max(tied.strict_factor, own.strict_factor if own else 1.0),
                )
                .at_least(*((days.error, days.degrees) if days else (0.0, 1.0)))
                .blurred(step),
                note,
            )
        return self._ratios[above, below]

    def _session_error(self, cell: Cell) -> BlockError | None:
        if cell not in self._session_errors:
            self._session_errors[cell] = session_error(self, cell)
        return self._session_errors[cell]

    @cached_property
    def _session_errors(self) -> dict[Cell, BlockError | None]:
        return {}

    def own_dependence(self, above: Side, below: Side) -> Dependence | None:
        """The dependence of the rounds of this ratio alone; None if they show none. Only of
        comparisons: among the hundreds of rows of ``run`` one in twenty would be widened by
        chance."""
        if not self.stored.run.plan.traits.whole_programs:
            return None
        pairs = self.pairs(above, below)
        return own_dependence(_logs(pairs)) if pairs.has_ratio else None

    def drifts(self, above: Side, below: Side) -> float | None:
        """The correlation of its own rounds, if without it the strict interval of the ratio would
        exclude 1, and does not with it; else None."""
        ratio, _ = self.ratio(above, below)
        own = self.own_dependence(above, below)
        if own is None or ratio is None or ratio.strict is None:
            return None
        low, high = ratio.strict
        if not low <= 1 <= high:
            return None
        tied = self.dependence_of(above[0])
        usual, _ = self.pairs(above, below).ratio()
        strict = usual and usual.widened(tied.factor, tied.strict_factor).strict
        return own.lag_one if strict and not strict[0] <= 1 <= strict[1] else None

    @cached_property
    def _ratios(self) -> dict[tuple[Side, Side], tuple[PairedRatio | None, str]]:
        return {}

    def step(self, cell: Cell, subject: str) -> float:
        """The relative distance of neighbouring numbers; 0 where it does not matter."""
        quantity = self.quantities.get((cell.experiment, cell.quantity))
        if quantity is None:
            return 0.0
        tried = self.tried.get(cell.setup, {}).get(subject, [])
        return relative_step(quantity, self.table[cell][subject].rounds.values(), tried)

    def _rounds(self, side: Side, other: Side) -> dict[int, float]:
        """Round -> value. Of the baseline the mean of its two labels: both are the same thing, so
        the mean has half the variance. Against the control it stands for itself."""
        cell, subject = side
        control = self.controls.get(cell.experiment, "")
        row = self.table[cell]
        if (
            subject != self.baselines.get(cell.experiment)
            or other == (cell, control)
            or (control not in row)
            or self._is_relative(cell)
        ):
            return row[subject].rounds
        return _means(row[subject].rounds, row[control].rounds)

    @cached_property
    def dependence(self) -> dict[str, Dependence]:
        """Experiment -> how its rounds depend on each other, by its first quantity."""
        series: dict[str, list[Pairs]] = {id: [] for id in self.experiments}
        for cell in self.table:
            experiment = self.experiments.get(cell.experiment)
            if experiment is not None and cell.quantity == experiment.quantities[0].name:
                series[cell.experiment] += self._series(cell)
        return {id: _dependence(found) for id, found in series.items()}

    def dependence_of(self, cell: Cell) -> Dependence:
        """How the rounds of a cell depend on each other. Rounds in which subjects ran beside the
        baseline are other rounds, and have their own."""
        if not self._is_relative(cell):
            return self.dependence[cell.experiment]
        return self._dependence_together[cell.experiment]

    @cached_property
    def _dependence_together(self) -> dict[str, Dependence]:
        series: dict[str, list[Pairs]] = {id: [] for id in self.experiments}
        for cell in self.table:
            if self._is_relative(cell):
                series[cell.experiment] += self._series(cell)
        return {id: _dependence(found) for id, found in series.items()}

    def _series(self, cell: Cell) -> list[Pairs]:
        """Each subject of a cell with its baseline."""
        row, baseline = self.table[cell], self.baselines[cell.experiment]
        found = (
            self.pairs((cell, name), (cell, baseline))
            for name in row
            if name != baseline and baseline in row
        )
        return [pairs for pairs in found if pairs.has_ratio]

    @cached_property
    def noise(self) -> dict[Cell, NoiseFloor]:
        """How far each cell's baseline strays from itself."""
        found = {
            cell: noise_floor(
                one.above,
                one.below,
                self.dependence_of(cell).factor,
                self.step(cell, self.baselines[cell.experiment]),
            )
            for cell, one in self.control_pairs.items()
        }
        return {cell: floor for cell, floor in found.items() if floor is not None}

    @cached_property
    def floors(self) -> dict[Cell, float]:
        """Relative: 0.02 is 2 %."""
        return {cell: found.floor for cell, found in self.noise.items()}

    @cached_property
    def claims(self) -> dict[tuple[Cell, str], Claim]:
        """Every comparison of a subject with its baseline."""
        return {(claim.cell, claim.subject): claim for claim in claims(self)}

    @cached_property
    def quantities(self) -> dict[tuple[str, str], Quantity]:
        return {(e.id, q.name): q for e in self.stored.run.experiments for q in e.quantities}

    @cached_property
    def experiments(self) -> dict[str, Experiment]:
        return {e.id: e for e in self.stored.run.experiments}

    @cached_property
    def whole_programs(self) -> set[str]:
        """Experiments of which each process is a program that knows nothing of us, in each setup
        the same: the user's of ``compare``, or programs of the machine."""
        whole = self.stored.run.plan.traits.whole_programs
        return {e.id for e in self.stored.run.experiments if whole or e.programs}

    @cached_property
    def tried(self) -> dict[Setup, dict[str, list[Process]]]:
        """Setup -> subject -> its timed processes, however they ended."""
        found: dict[Setup, dict[str, list[Process]]] = {}
        for process in self.stored.processes:
            if timed(process):
                found.setdefault(process.setup, {}).setdefault(process.subject, []).append(process)
        return found

    @cached_property
    def demands(self) -> dict[Setup, Demand]:
        """Setup -> what the program of a comparison asks of malloc, where that was counted."""
        if not self.stored.run.plan.traits.whole_programs:
            return {}
        return demands_of(self.stored, self.labels)

    @cached_property
    def demand(self) -> Demand | None:
        """The demand of the first setup that was counted."""
        return next(iter(self.demands.values()), None)

    @cached_property
    def labels(self) -> list[str]:
        """The baselines, then their controls."""
        return [*self.baselines.values(), *self.controls.values()]

    def hardly_allocates(self, setup: Setup) -> bool:
        """Whether that explains why no allocator was found to be faster there. Several builds can
        differ in everything."""
        demand = self.demands.get(setup)
        return demand is not None and demand.is_too_small and not self.compares_builds

    @cached_property
    def counts(self) -> Counts | None:
        """Calls of malloc under each allocator, of the baseline's build in its first setup; None if
        the run is not a comparison."""
        return next(iter(self.all_counts), None)

    @cached_property
    def all_counts(self) -> list[Counts]:
        """The same of each build in each setup, the baseline's build first."""
        if not (self.stored.run.plan.traits.whole_programs and self.baselines):
            return []
        setups: list[Setup | None] = [
            *dict.fromkeys(p.setup for p in self.stored.processes if p.facts.counting)
        ] or [None]
        control = next(iter(self.controls.values()), "")
        return [
            counts_of(self.stored, base, control if base in self.labels else "", setup)
            for setup in setups
            for base in self.references.values()
        ]

    @cached_property
    def references(self) -> dict[str, str]:
        """Build of a comparison -> the subject that shows what all of that build have to do. The
        baseline's is first."""
        if not self.stored.run.plan.traits.whole_programs:
            return {}
        found = dict(self.stored.run.plan.examples)
        for baseline in self.baselines.values():
            build = self.build_of(baseline)
            found = {build: baseline} | {b: s for b, s in found.items() if b != build}
        return found

    def build_of(self, subject: str) -> str:
        """The name of the program that it runs; "" where there is only one."""
        known = self.subjects.get(subject)
        return known.build if known else ""

    @cached_property
    def compares_builds(self) -> bool:
        """Whether programs are compared, and not allocators alone."""
        return len({subject.build for subject in self.subjects.values()}) > 1

    @cached_property
    def subjects(self) -> dict[str, Subject]:
        return {subject.name: subject for subject in self.stored.run.plan.subjects}

    @cached_property
    def control_names(self) -> set[str]:
        """The controls of all experiments of the run."""
        return {name for name, subject in self.subjects.items() if subject.control}

    @cached_property
    def never_ranked(self) -> dict[str, set[str]]:
        """Experiment -> subjects that are shown and never ranked: controls and yardsticks."""
        return {
            e.id: self.control_names
            | {YARDSTICK}
            | {spec.name for spec in e.subjects if spec.yardstick}
            for e in self.stored.run.experiments
        }

    @cached_property
    def compiled_in(self) -> dict[str, set[str]]:
        """Experiment -> heaps that the compiler put into the program: another contest than that of
        the libraries, which are called through the linkage table. Only where libraries compete: in
        other families such a heap is a subject like all others."""
        return {
            e.id: {spec.name for spec in e.subjects if spec.kind == "inline"}
            for e in self.stored.run.experiments
            if e.family == HEAPS and any(spec.kind == "malloc" for spec in e.subjects)
        }

    def is_aside(self, cell: Cell, subject: str) -> bool:
        """Whether it is shown beside the ranking of the cell, as it is compiled into the
        program."""
        return subject in self.compiled_in.get(cell.experiment, ())

    @cached_property
    def groups(self) -> dict[str, str]:
        """Subject, as its experiment declares it -> its group, where there are groups."""
        return {
            spec.name: spec.group
            for e in self.stored.run.experiments
            for spec in e.subjects
            if spec.group
        }

    @cached_property
    def _group_by_label(self) -> dict[tuple[str, str], str]:
        return {
            (e.id, name): spec.group
            for e in self.stored.run.experiments
            for spec in e.subjects
            if spec.group
            for name in (spec.name, control_name(spec.name))
        }

    def group_of(self, experiment: str, subject: str) -> str:
        """Only subjects of one group share a ranking; "" where the experiment has no groups."""
        return self._group_by_label.get((experiment, subject), "")

    def planted(self, cell: Cell, subject: str) -> float:
        """Nanoseconds that a self-test added to each operation of the subject there; else 0."""
        return self._planted.get((cell.setup, subject), 0.0)

    @cached_property
    def _planted(self) -> dict[tuple[Setup, str], float]:
        """By setup and subject; only what is above 0."""
        found = {
            (setup, subject): max(map(planted, processes))
            for setup, row in self.tried.items()
            for subject, processes in row.items()
        }
        return {place: added for place, added in found.items() if added}


def _dependence(found: list[Pairs]) -> Dependence:
    """The dependence of the series over the rounds that most of them have."""
    rounds = Counter(tuple(pairs.rounds) for pairs in found)
    if not rounds:
        return untested()
    usual = list(rounds.most_common(1)[0][0])
    return dependence([_logs(pairs) for pairs in found if pairs.rounds == usual])


def _logs(pairs: Pairs) -> list[float]:
    found: list[float] = np.log(np.divide(pairs.above, pairs.below)).tolist()
    return found


def _means(first: dict[int, float], second: dict[int, float]) -> dict[int, float]:
    """The geometric mean of both, or the one that there is; the first alone where one is zero."""
    if min(*first.values(), *second.values()) <= 0:
        return first
    return {
        number: sqrt(
            first.get(number, second.get(number, 0.0)) * second.get(number, first.get(number, 0.0))
        )
        for number in sorted(first.keys() | second.keys())
    }
