"""Which rows of a run fail again and again, so that later rounds leave them out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

from heapwise.model import Process, Run, Setup, SubjectName

TRIES = 3
"""A subject that fails as often, and never succeeds, is left out of later rounds: of one cell, or
of the whole experiment where it never succeeds in any."""

SetupSubject = tuple[Setup, str]
"""A setup and a subject of it."""

Failing = SetupSubject | tuple[str, str]
"""What failures count against: a row, or an experiment and a subject."""


@dataclass
class Failures:
    run: Run
    _number: dict[Failing, int] = field(default_factory=lambda: defaultdict(int))
    _succeeded: set[Failing] = field(default_factory=set)

    def leaves_out(self, row: SetupSubject) -> bool:
        return any(map(self._is_dropped, self._counted_against(row)))

    def note(self, process: Process) -> str:
        """What later rounds leave out because of this process, in words; "" for nothing."""
        rows = self._counted_against((process.setup, process.subject))
        if process.status in ("ok", "refused"):
            self._succeeded.update(rows)
            return ""
        for row in rows:
            self._number[row] += 1
        fresh = [row for row in rows if self._is_dropped(row) and self._number[row] == TRIES]
        if not fresh:
            return ""
        cell = " ".join(f"{name}={value}" for name, value in process.parameters.items())
        whole = not cell or (len(rows) > 1 and (fresh[0] == rows[0] or self._is_dropped(rows[0])))
        name = self._names.get(process.subject, process.subject)
        return name if whole else f"{name} with {cell}"

    @cached_property
    def _names(self) -> dict[str, str]:
        """What a control is called for people."""
        return {
            subject.name: f"{SubjectName.parse(subject.name).measured} (second label)"
            for subject in self.run.plan.subjects
            if subject.control
        }

    def _is_dropped(self, row: Failing) -> bool:
        return row not in self._succeeded and self._number[row] >= TRIES

    def _counted_against(self, row: SetupSubject) -> tuple[Failing, ...]:
        """What a failure counts against: the experiment as a whole, and these settings of it. Each
        cell of a program stands for itself."""
        (experiment, _), subject = row
        of_programs = any(
            e.id == experiment and self.run.plan.is_whole(e) for e in self.run.experiments
        )
        return (row,) if of_programs else ((experiment, subject), row)
