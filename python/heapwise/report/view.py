"""What every section sees of one run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.evidence.series import Cell, parameters_key
from heapwise.model import Experiment, Result, Row
from heapwise.store import StoredRun


@dataclass(frozen=True)
class Group:
    """Rows of one experiment, cell and quantity: what may be compared with each other."""

    experiment: Experiment
    parameters: dict[str, Any]
    rows: list[Row]

    @property
    def quantity(self) -> str:
        return str(self.parameters["quantity"])

    @property
    def unit(self) -> str:
        return self.rows[0].unit

    @property
    def cell(self) -> dict[str, Any]:
        return {name: value for name, value in self.parameters.items() if name != "quantity"}


@dataclass(frozen=True)
class View:
    """One run: its evidence, and the result that follows from it."""

    evidence: Evidence

    @property
    def stored(self) -> StoredRun:
        return self.evidence.stored

    @cached_property
    def result(self) -> Result:
        return analyse(self.evidence)

    @property
    def is_compare(self) -> bool:
        return self.stored.run.plan.kind == "compare"

    @cached_property
    def groups(self) -> list[Group]:
        experiments = {e.id: e for e in self.stored.run.experiments}
        found = groupby(self.result.rows, key=lambda r: (r.experiment, r.parameters))
        return [Group(experiments[key[0]], key[1], list(rows)) for key, rows in found]

    def group(self, quantity: str) -> Group | None:
        return next((g for g in self.groups if g.quantity == quantity), None)

    def of(self, experiment: Experiment) -> list[Group]:
        return [group for group in self.groups if group.experiment.id == experiment.id]

    def varying(self, experiment: Experiment) -> list[str]:
        """Parameters that take several values in this run, in the experiment's order."""
        groups = self.of(experiment)
        names = dict.fromkeys(name for group in groups for name in group.cell)
        return [n for n in names if len({str(g.cell.get(n)) for g in groups}) > 1]

    def floor(self, group: Group) -> float | None:
        """The A/A noise floor of these rows; None without one."""
        key = parameters_key(group.cell)
        return self.evidence.floors.get(Cell(group.experiment.id, key, group.quantity))
