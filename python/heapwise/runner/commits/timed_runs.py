"""What processes of one program need, run by themselves, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from heapwise.catalog import PROBE
from heapwise.errors import Problem
from heapwise.model import ProcessFacts
from heapwise.runner.commits.exact_counts import program_of
from heapwise.runner.executors.whole_program import WholeProgram
from heapwise.runner.plan.compare_plan import CompareRequest
from heapwise.runner.process.process_status import judge
from heapwise.runner.process.scratch import ScratchFolder
from heapwise.runner.process.stop_switch import StopSwitch


@dataclass
class TimedRuns:
    """request: input, limits and exit codes."""

    command: Sequence[str]
    request: CompareRequest = field(default_factory=CompareRequest)

    def __post_init__(self) -> None:
        self._folder = ScratchFolder()
        self._program: WholeProgram = program_of(
            self.command, self.request, self._folder.path, environment=None
        )
        self._number = 0

    def next(self) -> ProcessFacts:
        """Runs one process. Problem E030 if it fails; KeyboardInterrupt if it is stopped."""
        self._number += 1
        program = self._program
        program.work.begin()
        with StopSwitch() as stop:
            outcome = program.launch(None, self._number, stop, PROBE, program.command)
        if outcome.interrupted:
            raise KeyboardInterrupt
        status, reason = judge(outcome, None, program.reference)
        if status != "ok":
            raise Problem("E030", f"{program.command[0]} failed: {reason}")
        return outcome.facts
