"""What shows a campaign to the user while it is under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from heapwise.evidence import Evidence
from heapwise.model import Process, Run
from heapwise.runner.campaign.steps import Step
from heapwise.runner.process.launch import Outcome


@dataclass(frozen=True)
class Progress:
    """``rounds`` and ``eta_s`` are None where nobody can know them yet; warm-up rounds count.

    makes_up: beyond the planned rounds, in place of samples that do not count. Then ``rounds`` and
    ``eta_s`` are the most that it may take.
    """

    round: int
    rounds: int | None
    share: float
    eta_s: float | None
    makes_up: bool = False


class Watcher(Protocol):
    """Shows the user what is going on."""

    def begin(self, run: Run) -> None: ...

    def step(self, step: Step, progress: Progress) -> None: ...

    def done(self, process: Process) -> None: ...

    def dropped(self, subject: str, reason: str) -> None: ...


@runtime_checkable
class ShowsOutput(Protocol):
    """A watcher that can show what each process prints."""

    def printed(self, step: Step, outcome: Outcome) -> None: ...


@runtime_checkable
class ShowsVerdicts(Protocol):
    """A watcher that can show what is known after some of the rounds."""

    def so_far(self, evidence: Evidence, elapsed_s: float) -> None: ...
