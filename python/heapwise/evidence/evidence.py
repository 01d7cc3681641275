"""One stored run, arranged: its samples by cell and subject, and the names of what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

from heapwise.evidence.kept import (
    Candidate,
    FilteredSamples,
    candidates,
    filter_samples,
    planted,
    timed,
    together,
)
from heapwise.evidence.series import (
    Table,
    baseline_of,
    control_of,
    tabulate,
)
from heapwise.model import Cell, Experiment, Process, Quantity, Setup, Subject
from heapwise.store import StoredRun

Derived = TypeVar("Derived")


@dataclass(frozen=True)
class Evidence:
    """Immutable. Each property is computed at its first use, and once.

    ``comparisons_of``, ``calls_of`` and ``ranking_of`` say what follows from it.
    """

    stored: StoredRun

    @cached_property
    def candidates(self) -> list[Candidate]:
        """Samples that may count, before the rules, in the order in which they were taken."""
        return candidates(self.stored)

    @cached_property
    def filtered(self) -> FilteredSamples:
        """Which of the candidates the rules keep."""
        return filter_samples(self.candidates)

    @cached_property
    def table(self) -> Table:
        """Cell -> subject -> series of the kept samples, of quantities that are declared."""
        return {
            cell: row
            for cell, row in tabulate([*self.filtered.kept, *together(self.stored)]).items()
            if (cell.experiment, cell.quantity) in self.quantities
        }

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
    def baselines(self) -> dict[str, str]:
        """Experiment -> the subject that ratios are taken against."""
        return {e.id: baseline_of(self.stored, e) for e in self.stored.run.experiments}

    @cached_property
    def controls(self) -> dict[str, str]:
        """Experiment -> the second label of its baseline (A/A), where there is one."""
        found = {id: control_of(self.stored, name) for id, name in self.baselines.items()}
        return {id: control for id, control in found.items() if control is not None}

    @cached_property
    def labels(self) -> list[str]:
        """The baselines, then their controls."""
        return [*self.baselines.values(), *self.controls.values()]

    @cached_property
    def experiments(self) -> dict[str, Experiment]:
        return {e.id: e for e in self.stored.run.experiments}

    @cached_property
    def quantities(self) -> dict[tuple[str, str], Quantity]:
        return {(e.id, q.name): q for e in self.stored.run.experiments for q in e.quantities}

    @cached_property
    def whole_programs(self) -> set[str]:
        """Experiments of which each process is a program that knows nothing of us, in each setup
        the same: the user's of ``compare``, or programs of the machine."""
        return {e.id for e in self.stored.run.experiments if self.stored.run.plan.is_whole(e)}

    @cached_property
    def tried(self) -> dict[Setup, dict[str, list[Process]]]:
        """Setup -> subject -> its timed processes, however they ended; of a subject that never ran
        by itself, those that ran beside others."""
        found: dict[Setup, dict[str, list[Process]]] = {}
        beside: dict[Setup, dict[str, list[Process]]] = {}
        for process in self.stored.processes:
            if timed(process):
                found.setdefault(process.setup, {}).setdefault(process.subject, []).append(process)
            elif process.facts.beside is not None:
                rows = beside.setdefault(process.setup, {})
                rows.setdefault(process.subject, []).append(process)
        return {setup: beside.get(setup, {}) | found.get(setup, {}) for setup in beside | found}

    @cached_property
    def subjects(self) -> dict[str, Subject]:
        return {subject.name: subject for subject in self.stored.run.plan.subjects}

    @cached_property
    def control_names(self) -> set[str]:
        """The controls of all experiments of the run."""
        return {name for name, subject in self.subjects.items() if subject.control}

    @cached_property
    def compares_builds(self) -> bool:
        """Whether programs are compared, and not allocators alone."""
        return len({subject.build for subject in self.subjects.values()}) > 1

    def calibration(self, quantity: str) -> float:
        """By how much intervals of the quantity are widened, by earlier runs of the machine."""
        known = self.stored.run.calibration.get(quantity)
        return known.factor if known else 1.0

    def build_of(self, subject: str) -> str:
        """The name of the program that it runs; "" where there is only one."""
        known = self.subjects.get(subject)
        return known.build if known else ""

    def planted(self, cell: Cell, subject: str) -> float:
        """Nanoseconds that a self-test added to each operation of the subject there; else 0."""
        return self.once(_planted_delays).get((cell.setup, subject), 0.0)


def _planted_delays(evidence: Evidence) -> dict[tuple[Setup, str], float]:
    """By setup and subject; only what is above 0."""
    found = {
        (setup, subject): max(map(planted, processes))
        for setup, row in evidence.tried.items()
        for subject, processes in row.items()
    }
    return {place: added for place, added in found.items() if added}
