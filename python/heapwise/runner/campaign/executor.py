"""What runs the steps of a campaign, and what a step may record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Protocol

from heapwise.model import Experiment, Plan, Process, Sample
from heapwise.runner.campaign.steps import Step
from heapwise.runner.campaign.watcher import Watcher
from heapwise.runner.process.stop_switch import StopSwitch

Sink = Callable[[Process | Sample], None]


class Executor(Protocol):
    """Knows how to run one step; ``prepare`` does what comes before the first round."""

    def resume_from(self, processes: list[Process]) -> None:
        """What an earlier invocation of the same run has found out."""

    def prepare(self, stop: StopSwitch, record: Sink, next_number: Callable[[], int]) -> None: ...

    def finish(self) -> list[str]:
        """After the last round, however the run ends: what went wrong in the end, in words."""

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Sink) -> Process: ...

    def after(self, process: Process) -> None:
        """Raises a Problem when it makes no sense to go on."""


MakeExecutor = Callable[[Plan, Mapping[str, str], list[Experiment], Watcher], Executor]
"""Makes what runs the steps of a plan; each kind of study has one. The mapping is the environment
of the processes, with what the store does not hold."""


def now() -> str:
    """UTC, to the second's thousandth, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
