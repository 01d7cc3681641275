"""Executes the steps of ``run``: an experiment's binary, once per cell, subject and round.

Subjects that are programs themselves are the job of ``RowRunner``, cells that are programs that of
``ProgramCells``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from heapwise.catalog import COUNTER, LAUNCHER, PROBE, native_folder, native_part
from heapwise.model import (
    End,
    Experiment,
    Identity,
    Plan,
    Process,
    ProcessFacts,
    Sample,
    Start,
    Status,
    WorkCheck,
)
from heapwise.runner.campaign.executor import Executor, Sink, now
from heapwise.runner.campaign.steps import Step, StepKey, key_of
from heapwise.runner.campaign.watcher import Watcher
from heapwise.runner.executors.counting import counting_steps, with_totals
from heapwise.runner.executors.program_cells import ProgramCells
from heapwise.runner.executors.row_runner import RowRunner
from heapwise.runner.process.environment import of_child, padding
from heapwise.runner.process.identity import loader_refusal, wrong_library
from heapwise.runner.process.launch import Launch, Outcome, tail
from heapwise.runner.process.patience import Patience
from heapwise.runner.process.process_status import crash_words, stopped_words
from heapwise.runner.process.scratch import ScratchFolder
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.runner.process.stream import NativeLine, Refused, SampleLine, command_of, stream
from heapwise.wording.durations import show_limit

DEFAULT_TIMEOUT_S, SMOKE_TIMEOUT_S = 900.0, 120.0
WORK_IS_WRONG = 3
"""Exit code of an experiment, by schema/README.md."""


@dataclass
class Collected:
    """The lines of one process."""

    start: Start | None = None
    end: End | None = None
    checks: list[WorkCheck] = field(default_factory=list)
    refused: str = ""
    malformed: int = 0


@dataclass
class ExperimentExecutor:
    """``environment`` is what the children get."""

    plan: Plan
    environment: dict[str, str]
    experiments: list[Experiment]

    def __post_init__(self) -> None:
        native_part(LAUNCHER)
        self._probe, self._counter = (
            str(part) if part.exists() else ""
            for part in (native_folder() / PROBE, native_folder() / COUNTER)
        )
        self._folder = ScratchFolder()
        self._counted: set[StepKey] = set()
        self._patience = Patience()
        self._rows = RowRunner(self.plan, self.environment, self._probe, self._place)
        self._programs = ProgramCells(self.plan, self.environment, self._place, self._timeout_s())

    def resume_from(self, processes: list[Process]) -> None:
        self._counted = {key_of(p) for p in processes if p.facts.counting}
        for experiment in self.experiments:
            mine = [p for p in processes if p.experiment == experiment.id]
            self._programs.resume_from(experiment.programs, mine)

    def prepare(self, stop: StopSwitch, record: Sink, next_number: Callable[[], int]) -> None:
        """Counts the calls that arrive at malloc (V4); what fails here costs only that check."""
        if not self._counter:
            return
        for step in counting_steps(self.plan, self.experiments):
            if step.key in self._counted:
                continue
            process = self._count(step, next_number(), stop)
            if stop.requested:
                return
            record(process)

    def finish(self) -> list[str]:
        """Nothing is left to do."""
        return []

    def after(self, process: Process) -> None:
        """Nothing: one experiment that fails does not spoil the others."""

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Sink) -> Process:
        if step.experiment.programs:
            return self._programs.execute(step, number, stop, record)
        if step.spec and step.spec.command:
            return self._rows.execute(step, number, stop, record, self._timeout_s())
        return self._measure(step, number, stop, record)

    def _measure(self, step: Step, number: int, stop: StopSwitch, record: Sink) -> Process:
        found = Collected()

        def take(line: NativeLine) -> None:
            if isinstance(line, SampleLine):
                self._patience.note_sample(line.facts)
                record(sample_of(line, step, number))
            else:
                _keep(line, found)

        peer = step.subject.peer
        library = peer.path if peer and peer.path else ""
        started_at = now()
        what = self._launch(step, number, (library, self._probe), step.repeats)
        outcome, noise = stream(what, self._place, stop, take)
        self._patience.note_process(outcome.facts)
        status, reason = self._judge(step, outcome, found, stop)
        facts = structs.replace(_facts(outcome, found, status), noise_lines=noise or None)
        return step.process(number, started_at, status, reason, facts, outcome.identity)

    def _count(self, step: Step, number: int, stop: StopSwitch) -> Process:
        """One repeat is enough, and is the first: warm-up calls malloc like any other."""
        found = Collected()
        peer = step.subject.peer
        libraries = self._counter, (peer.path if peer and peer.path else "")
        started_at = now()
        what = self._launch(step, number, libraries, 1)
        outcome, _ = stream(what, self._place, stop, lambda line: _keep(line, found))
        status, reason = _ended(outcome, found)
        facts = with_totals(_facts(outcome, found, status), outcome.counts)
        fit: Status = "ok" if status == "ok" else "discarded"
        return step.process(number, started_at, fit, reason, facts, outcome.identity)

    @property
    def _place(self) -> Path:
        return self._folder.path

    def _launch(
        self, step: Step, number: int, libraries: tuple[str, str], repeats: int | None
    ) -> Launch:
        command = command_of(
            step.experiment.binary,
            step.subject.parts.inner,
            step.parameters,
            seed=self.plan.seed + max(0, step.round),
            repeats=repeats,
            smoke=self.plan.smoke,
            patience=self._patience.options(),
        )
        peer = step.subject.peer
        padded = padding(self.plan.seed, number)
        environment = of_child(peer, self.environment, libraries, padded)
        if replay := self.plan.options.replay:
            environment |= {"HEAPWISE_SCRIPT": replay.script}
        return Launch(command, environment, self._timeout_s(), cpus=self.plan.options.cpus)

    def _timeout_s(self) -> float:
        return self.plan.timeout_s or (SMOKE_TIMEOUT_S if self.plan.smoke else DEFAULT_TIMEOUT_S)

    def _judge(
        self, step: Step, outcome: Outcome, found: Collected, stop: StopSwitch
    ) -> tuple[Status, str]:
        facts = outcome.facts
        if stop.requested and found.end is None:
            return "interrupted", "stopped by you"
        if refusal := loader_refusal(outcome.stderr):
            return "wrong_allocator", refusal
        if name := facts.stop_signal:
            return "failed", stopped_words(name)
        if facts.timed_out:
            return "timed_out", f"no end after {show_limit(self._timeout_s())}"
        if facts.signal:
            return "crashed", crash_words(facts)
        if found.refused:
            return "refused", found.refused
        peer = step.subject.peer
        said = found.start.malloc if found.start else None
        evidence = outcome.identity or ([Identity(malloc=said)] if said else [])
        if peer is not None and (wrong := wrong_library(evidence, peer, set())):
            return "wrong_allocator", wrong
        return _ended(outcome, found)


def sample_of(line: SampleLine, step: Step, number: int) -> Sample:
    """A line of the binary as a sample."""
    return Sample(
        process=number,
        experiment=step.experiment.id,
        subject=step.subject.name,
        parameters=step.parameters,
        round=step.round,
        repeat=line.repeat,
        warm_up=step.warm_up or line.repeat < step.experiment.dropped_repeats,
        values={name: float(value) for name, value in line.values.items()},
        facts=line.facts,
    )


def _keep(line: NativeLine, found: Collected) -> None:
    match line:
        case Start():
            found.start = line
        case End():
            found.end = line
        case WorkCheck():
            found.checks.append(line)
        case Refused():
            found.refused = f"{line.what}: {line.reason}"
        case None:
            found.malformed += 1


def _ended(outcome: Outcome, found: Collected) -> tuple[Status, str]:
    if error := outcome.facts.start_error:
        return "failed", f"it could not be started: {error}"
    code = outcome.facts.exit_code
    wrong = next((check for check in found.checks if not check.ok), None)
    if wrong is not None or code == WORK_IS_WRONG:
        return "failed", f"a check of the work failed: {wrong.detail if wrong else 'see stderr'}"
    if code != 0:
        return "failed", f"exit code {code}"
    if found.end is None:
        return "failed", "it ended without its last line"
    if found.malformed:
        return "failed", f"{found.malformed} of its lines cannot be understood"
    return "ok", ""


def _facts(outcome: Outcome, found: Collected, status: Status) -> ProcessFacts:
    return structs.replace(
        outcome.facts,
        start=found.start,
        end=found.end,
        checks=found.checks,
        stderr_tail=None if status == "ok" else tail(outcome.stderr),
    )


def experiment_executor(
    plan: Plan, environment: Mapping[str, str], experiments: list[Experiment], _: Watcher
) -> Executor:
    return ExperimentExecutor(plan, dict(environment), experiments)
