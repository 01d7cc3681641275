"""What every section sees of one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

from heapwise.analysis import analyse
from heapwise.analysis.rows import Bench
from heapwise.analysis.units import TIME_UNITS
from heapwise.model import Experiment, Result, Row
from heapwise.store import StoredRun
from heapwise.trust.series import parameters_key


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
    """One run with its result; ``result`` is derived from ``stored`` when it is not given."""

    stored: StoredRun
    result: Result = field(default=None)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.result is None:
            object.__setattr__(self, "result", analyse(self.stored))

    @property
    def is_compare(self) -> bool:
        return self.stored.run.plan.kind == "compare"

    @cached_property
    def bench(self) -> Bench:
        """The kept samples, arranged: for sections that compare others than with the baseline."""
        return Bench(self.stored)

    @cached_property
    def controls(self) -> set[str]:
        return {s.name for s in self.stored.run.plan.subjects if s.control}

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

    def time_groups(self) -> Iterator[Group]:
        return (group for group in self.groups if group.unit in TIME_UNITS)

    def floor(self, group: Group) -> float | None:
        """The A/A noise floor of these rows, from check V5; None without one."""
        check = next((c for c in self.result.trust.checks if c.id == "V5"), None)
        key = parameters_key(group.cell)
        for entry in (check.figures.get("floors", []) if check else []):
            if (entry["experiment"], entry["parameters"], entry["quantity"]) == (
                    group.experiment.id, key, group.quantity):
                return float(entry["floor"])
        return None
