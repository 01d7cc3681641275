"""Executes the steps of an experiment whose cells are programs of the machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from heapwise.catalog import system_library
from heapwise.model import PROGRAM, Plan, Process, ProgramSpec, Status
from heapwise.model.build import filled
from heapwise.runner.campaign.executor import Sink, now
from heapwise.runner.campaign.steps import Step
from heapwise.runner.executors.whole_program import WholeProgram
from heapwise.runner.process.launch import Launch, launch
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.runner.process.work import Work, ending

USUAL = {"LC_ALL": "C"}
"""The variables of every program, so that it sorts and prints alike on every machine."""


@dataclass
class ProgramCells:
    """environment: of the children. folder: ours, with one for each program in it. longest_s: the
    limit of a process while nothing is known of its program."""

    plan: Plan
    environment: dict[str, str]
    folder: Path
    longest_s: float
    _programs: dict[str, WholeProgram] = field(default_factory=dict)
    _troubles: dict[str, str] = field(default_factory=dict)

    def resume_from(self, specs: Iterable[ProgramSpec], processes: Iterable[Process]) -> None:
        """What the earlier invocation knew of each baseline."""
        labels = {s.name: s.peer for s in self.plan.subjects if s.baseline or s.control}
        for spec in specs:
            for process in processes:
                if process.parameters.get(PROGRAM) == spec.name and process.subject in labels:
                    self._program(spec).resume_from(process, labels[process.subject])

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Sink) -> Process:
        spec = step.experiment.program(step.parameters)
        assert spec is not None
        program, trouble = self._program(spec), self._prepared(spec, stop)
        if stop.requested:
            return _not_run(step, number, "interrupted", "stopped by you")
        if trouble:
            return _not_run(step, number, "failed", trouble)
        if not program.reference.known and not (step.subject.baseline or step.subject.control):
            return _not_run(
                step,
                number,
                "refused",
                "under the baseline it never ended well, so its output is not known",
            )
        return program.measure(step, number, stop, record)

    def _program(self, spec: ProgramSpec) -> WholeProgram:
        """Made when it is first asked for."""
        if spec.name in self._programs:
            return self._programs[spec.name]
        place = self._place(spec)
        (place / "work").mkdir(parents=True, exist_ok=True)
        work_place = str(place / "work")
        environment = self._environment(spec)
        work = Work(
            spec.output_files, self._shell_command(spec, spec.check), environment, work_place, place
        )
        command = [self._filled(spec, word) for word in spec.command]
        found = self._programs[spec.name] = WholeProgram(
            command,
            environment,
            self.plan.seed,
            place,
            work,
            f"{work_place}/{spec.input}" if spec.input else None,
            work_place,
            self.plan.options.cpus,
            self.plan.timeout_s,
            system=system_library() if spec.replaces else "",
            longest_s=self.longest_s,
            idle_s=spec.idle_s,
        )
        return found

    def _prepared(self, spec: ProgramSpec, stop: StopSwitch) -> str:
        """Makes what it needs, before its first process; returns what went wrong."""
        if spec.name in self._troubles:
            return self._troubles[spec.name]
        trouble = ""
        for command in spec.prepare:
            outcome = launch(
                Launch(
                    ["/bin/sh", "-c", self._shell_command(spec, command)],
                    self._environment(spec),
                    self.longest_s,
                    working_directory=f"{self._place(spec)}/work",
                ),
                self._place(spec),
                stop,
            )
            if outcome.interrupted:
                return ""
            if outcome.facts.exit_code != 0:
                trouble = f"the command that makes its input {ending(outcome, self.longest_s)}"
                break
        self._troubles[spec.name] = trouble
        return trouble

    def _place(self, spec: ProgramSpec) -> Path:
        return self.folder / PROGRAM / spec.name

    def _environment(self, spec: ProgramSpec) -> dict[str, str]:
        """Its home is its own folder, so that no settings of the user are read."""
        home = f"{self._place(spec)}/work"
        folders = {"HOME": home, "XDG_CONFIG_HOME": f"{home}/.config"}
        return self.environment | USUAL | folders | spec.environment

    def _filled(self, spec: ProgramSpec, word: str) -> str:
        return filled(word, self._values(spec))

    def _shell_command(self, spec: ProgramSpec, command: str) -> str:
        """A path that is filled in may have characters that a shell would interpret."""
        return filled(command, {name: quote(value) for name, value in self._values(spec).items()})

    def _values(self, spec: ProgramSpec) -> dict[str, str]:
        small = {"size": spec.smoke_size} if self.plan.smoke and spec.smoke_size else {}
        return spec.places | small


def _not_run(step: Step, number: int, status: Status, reason: str) -> Process:
    return step.process(number, now(), status, reason)
