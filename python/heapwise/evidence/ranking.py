"""Which subjects of a run are ranked, and with which others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from heapwise.evidence.evidence import Evidence
from heapwise.model import Cell, control_name

HEAPS = "heap"
"""The family in which whole allocators compete."""

YARDSTICK = "empty_loop"
"""The subject that does everything but the work: what the others' figures hold of the loop."""


@dataclass(frozen=True)
class Ranking:
    """Immutable, like the evidence. ``ranking_of`` makes one for each evidence."""

    evidence: Evidence

    @cached_property
    def never_ranked(self) -> dict[str, set[str]]:
        """Experiment -> subjects that are shown and never ranked: controls and yardsticks."""
        return {
            e.id: self.evidence.control_names
            | {YARDSTICK}
            | {spec.name for spec in e.subjects if spec.yardstick}
            for e in self.evidence.stored.run.experiments
        }

    @cached_property
    def compiled_in(self) -> dict[str, set[str]]:
        """Experiment -> heaps that the compiler put into the program: another contest than that of
        the libraries, which are called through the linkage table. Only where libraries compete: in
        other families such a heap is a subject like all others."""
        return {
            e.id: {spec.name for spec in e.subjects if spec.kind == "inline"}
            for e in self.evidence.stored.run.experiments
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
            for e in self.evidence.stored.run.experiments
            for spec in e.subjects
            if spec.group
        }

    @cached_property
    def _group_by_label(self) -> dict[tuple[str, str], str]:
        return {
            (e.id, name): spec.group
            for e in self.evidence.stored.run.experiments
            for spec in e.subjects
            if spec.group
            for name in (spec.name, control_name(spec.name))
        }

    def group_of(self, experiment: str, subject: str) -> str:
        """Only subjects of one group share a ranking; "" where the experiment has no groups."""
        return self._group_by_label.get((experiment, subject), "")


def ranking_of(evidence: Evidence) -> Ranking:
    """The same object at each call."""
    return evidence.once(Ranking)
