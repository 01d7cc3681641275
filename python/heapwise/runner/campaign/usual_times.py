"""How long a process of a row usually takes, by those that this run has had."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from heapwise.model import Setup
from heapwise.runner.campaign.steps import Step


@dataclass
class UsualTimes:
    """A row whose processes run beside others is known apart from the same row by itself."""

    _took_s: dict[tuple[Setup, str, bool], list[float]] = field(default_factory=dict)

    def note(self, step: Step, took_s: float) -> None:
        self._took_s.setdefault(_row(step), []).append(took_s)

    def usual_s(self, step: Step) -> float:
        """The median, as one process that was held up says nothing of the next; 0 if there was
        none."""
        return median(self._took_s.get(_row(step), [0.0]))


def _row(step: Step) -> tuple[Setup, str, bool]:
    return step.setup, step.subject.name, bool(step.beside)
