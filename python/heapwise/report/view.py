"""What every section sees of one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from heapwise.analysis import analyse
from heapwise.analysis.across_runs.recorded_facts import RecordedBuild, Requests, builds, requests
from heapwise.analysis.verdicts.comparison import readable
from heapwise.analysis.verdicts.published_figures import published_figures
from heapwise.evidence import Evidence, comparisons_of
from heapwise.model import Cell, CitedFigure, Experiment, Result, Row, Run, Settings
from heapwise.wording.names import cell_words, quantity_name


@dataclass(frozen=True)
class Group:
    """Rows of one cell: what may be compared with each other."""

    experiment: Experiment
    cell: Cell
    rows: list[Row]

    @property
    def quantity(self) -> str:
        return self.cell.quantity

    @property
    def unit(self) -> str:
        return self.rows[0].unit

    @property
    def parameters(self) -> Settings:
        return self.cell.parameters

    @property
    def better_side(self) -> str:
        """Where a figure of the ratios shows the better rows: ``Left is better.``"""
        return f"{'Left' if self.rows[0].better == 'lower' else 'Right'} is better."

    def cited(self) -> Iterator[tuple[Row, CitedFigure]]:
        """The published figures, each beside the row that has ours."""
        for row in self.rows:
            for figure in published_figures(self.experiment, row.subject, row.cell):
                yield row, figure

    def words(self, chosen: Iterable[str] | None = None) -> str:
        """The chosen settings, else all."""
        return cell_words(readable(self.experiment, self.parameters, chosen))

    def title(self, chosen: Iterable[str] | None = None) -> str:
        """``time, threads 2``: the quantity, and the chosen settings, else all."""
        return ", ".join(filter(None, (quantity_name(self.quantity), self.words(chosen))))


@dataclass(frozen=True)
class View:
    """One run: its evidence, and the result that follows from it.

    Sections read what was measured from these two alone. Only formats that write out every process
    or sample read the stored run itself.
    """

    evidence: Evidence

    @property
    def run(self) -> Run:
        """What was planned, on which machine."""
        return self.evidence.stored.run

    @cached_property
    def result(self) -> Result:
        return analyse(self.evidence)

    @property
    def is_compare(self) -> bool:
        return self.run.plan.traits.whole_programs

    @cached_property
    def builds(self) -> list[RecordedBuild]:
        return builds(self.evidence)

    @cached_property
    def requests(self) -> Requests | None:
        return requests(self.evidence)

    @property
    def damaged_lines(self) -> int:
        return self.evidence.stored.damaged_lines

    @cached_property
    def groups(self) -> list[Group]:
        experiments = {e.id: e for e in self.run.experiments}
        found = groupby(self.result.rows, key=lambda row: row.cell)
        return [Group(experiments[cell.experiment], cell, list(rows)) for cell, rows in found]

    def ranked(self, rows: Iterable[Row]) -> list[Row]:
        """Without those of controls."""
        return [row for row in rows if row.subject not in self.evidence.control_names]

    def group(self, quantity: str) -> Group | None:
        return next((g for g in self.groups if g.quantity == quantity), None)

    def of(self, experiment: Experiment) -> list[Group]:
        return self._by_experiment.get(experiment.id, [])

    @cached_property
    def _by_experiment(self) -> dict[str, list[Group]]:
        found: dict[str, list[Group]] = {}
        for group in self.groups:
            found.setdefault(group.experiment.id, []).append(group)
        return found

    def varying(self, experiment: Experiment) -> list[str]:
        """Parameters that take several values in this run, in the experiment's order."""
        groups = self.of(experiment)
        names = dict.fromkeys(name for group in groups for name in group.parameters)
        return [n for n in names if len({str(g.parameters.get(n)) for g in groups}) > 1]

    def floor(self, group: Group) -> float | None:
        """The A/A noise floor of these rows; None without one."""
        return comparisons_of(self.evidence).floors.get(group.cell)
