"""Executes the steps of ``compare``: the user's program, once per step, under one allocator."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from heapwise.catalog import COUNTER, EMPTY, PROBE, native_folder
from heapwise.errors import Problem
from heapwise.evidence.limits import COUNTED, counts_in
from heapwise.model import (
    ROUND,
    Experiment,
    Peer,
    Plan,
    Process,
    ProcessFacts,
    Quantity,
    Setting,
    Settings,
    Setup,
    Status,
    Subject,
    SubjectSpec,
    filled,
)
from heapwise.runner.builds import Parameters, parameters_of
from heapwise.runner.callgrind import total_in, under_callgrind
from heapwise.runner.commands import Commands
from heapwise.runner.counting import with_totals
from heapwise.runner.executor import Record, now
from heapwise.runner.judge import Reference, judge
from heapwise.runner.launch import Outcome
from heapwise.runner.scratch import ScratchFolder
from heapwise.runner.steps import Step
from heapwise.runner.stop_switch import StopSwitch
from heapwise.runner.whole_program import LONGEST_S, WholeProgram
from heapwise.runner.work import Work
from heapwise.stats.limits import CONFIRMED, COUNTS, is_suspect
from heapwise.wording.lists import listed

EXPERIMENT_ID = "compare"

STARTS = 3
"""Of an empty program, of which the shortest counts."""

COUNTED_S = 10.0
"""Programs that take longer are counted under the baseline alone: one more process for each subject
would cost too much of the user's time."""

QUANTITIES = [
    Quantity("wall_time", "s", "lower", "from start to end of the process"),
    Quantity("cpu_time", "s", "lower", "user and system time of the process and its children"),
    Quantity("user_time", "s", "lower", "time in the program and its children"),
    Quantity("system_time", "s", "lower", "time in the kernel, for the program and its children"),
    Quantity("peak_memory", "bytes", "lower", "high-water mark of resident memory, by the kernel"),
    Quantity("minor_faults", "count", "lower", "pages mapped without reading from a disk"),
    Quantity("major_faults", "count", "lower", "pages read from a disk"),
    Quantity("voluntary_switches", "count", "lower", "times that it waited for something"),
    Quantity("involuntary_switches", "count", "lower", "times that it was put off its processor"),
]


def experiment_of(command: list[str], subjects: list[Subject],
                  parameters: Parameters | None = None) -> Experiment:
    """``compare`` as an experiment, so that analysis and report need to know only one thing."""
    baseline = next(subject.name for subject in subjects if subject.baseline)
    builds = list(dict.fromkeys(subject.build for subject in subjects))
    question, isolates = f"Which allocator suits {Path(command[0]).name}, and what does it buy?", \
        "the allocator: program, input, environment and machine stay the same"
    if len(builds) > 1:
        question = f"Which of {listed(builds, len(builds))} is better, and by how much?"
        isolates = "the program: input, environment and machine stay the same"
    specs = [
        SubjectSpec(subject.name, "inline", subject.title)
        for subject in subjects if not subject.control
    ]
    return Experiment(
        schema=1, id=EXPERIMENT_ID, family=EXPERIMENT_ID,
        question=question, isolates=isolates,
        not_shown="other inputs, other loads, and programs that run for days",
        parameters=parameters_of(parameters or {}), quantities=QUANTITIES, subjects=specs,
        baseline=baseline, repeats=1, dropped_repeats=0,
    )


@dataclass
class ProgramExecutor:
    """``environment`` is what the children get, secrets included; the plan has them hidden."""

    plan: Plan
    environment: dict[str, str]
    shown: Callable[[Step, Outcome], None] | None = None
    """Gets the output of each process."""

    _counted: set[tuple[Setup, str]] = field(default_factory=set)
    _counts: dict[str, list[ProcessFacts]] = field(default_factory=dict)
    _programs: dict[tuple[str, Settings], WholeProgram] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._folder = ScratchFolder()
        self._labels = {s.name: s for s in self.plan.subjects}
        self._examples = set(self.plan.examples.values()) | {
            s.name for s in self.plan.subjects if s.baseline or s.control}

    def resume_from(self, processes: list[Process]) -> None:
        """What the earlier invocation knew of each build."""
        for process in processes:
            subject = self._labels.get(process.subject)
            if subject is None:
                continue
            if process.facts.counting:
                self._counted.add((process.setup, process.subject))
                if process.status == "ok":
                    self._counts.setdefault(self._of_one(subject.name), []).append(process.facts)
            elif subject.name in self._examples:
                self._program(subject, process.parameters).resume_from(process, subject.peer)

    def prepare(self, stop: StopSwitch, record: Record, next_number: Callable[[], int]) -> None:
        """Problem E034 if a command of --setup fails."""
        self._record, self._next_number, self._stop = record, next_number, stop
        for commands in self._every_commands():
            commands.setup(stop)

    def finish(self) -> list[str]:
        """Runs the commands of --cleanup; what went wrong with them, in words."""
        return [words for commands in self._every_commands() if (words := commands.cleanup())]

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Record) -> Process:
        program = self._program(step.subject, step.parameters)
        commands = self._commands(step.subject.build, step.parameters)
        return program.measure(
            step, number, stop, record, sets_example=step.subject.name in self._examples,
            before=lambda: commands.prepare({ROUND: step.round}, stop, program.working_directory),
            shown=self.shown)

    def after(self, process: Process) -> None:
        """Problems E030 and E031: what ails the baseline ails the comparison, and so does a build
        that never does its work."""
        subject = self._labels[process.subject]
        known = self._program(subject, process.parameters).reference.known
        if process.status == "ok":
            self._count(process, subject)
        elif not (subject.baseline or subject.control) and (
                known or subject.name not in self._examples):
            return
        elif process.status == "output_differs":
            raise Problem(
                "E031", f"the output of {self._started(process)} is not the same from one run to "
                "the next, without any change of the allocator",
                why="So it cannot show whether an allocator changes what the program does.",
                do="make the output repeatable, or --ignore-output if the difference is harmless",
            )
        elif process.status != "wrong_allocator":
            raise self._failure(process)
        else:
            raise Problem("E040", f"{self._started(process)}: {process.reason}")

    def _program(self, subject: Subject, cell: Mapping[str, Setting]) -> WholeProgram:
        """Of a build at the settings of a cell; made when it is first asked for."""
        key = subject.build, Settings.of(cell)
        if key not in self._programs:
            plan, options = self.plan, self.plan.options
            place = str(self._folder.path / "fresh") if options.fresh_folder \
                else plan.working_directory
            work = Work([filled(name, cell) for name in options.output_files],
                        filled(options.check, cell), self.environment, place, self._folder.path,
                        is_fresh=options.fresh_folder)
            self._programs[key] = WholeProgram(
                plan.build_named(subject.build).started(cell), self.environment, plan.seed,
                self._folder.path, work, plan.input_path, place, options.cpus, plan.timeout_s,
                reference=Reference(
                    ignore_output=options.ignore_output, any_exit=options.force,
                    ignores_exits=options.any_exit,
                    ignored_exits=frozenset([0, *options.ignored_exits]
                                            if options.ignored_exits else [])),
            )
        return self._programs[key]

    def _every_commands(self) -> list[Commands]:
        names, values = self.plan.parameters.keys(), self.plan.parameters.values()
        return [self._commands(build.name, dict(zip(names, cell, strict=True)))
                for build in self.plan.builds for cell in itertools.product(*values)]

    def _commands(self, build: str, cell: Mapping[str, Setting]) -> Commands:
        return Commands(self.plan.build_named(build), cell, self.environment,
                        self.plan.working_directory, self._folder.path,
                        self.plan.timeout_s or LONGEST_S)

    def _started(self, process: Process) -> str:
        """The program of a process, by its name and where it is."""
        build = self.plan.build_of(process.subject)
        program = build.started(process.parameters)[0]
        return f"{build.name} ({program})" if build.name else program

    def _failure(self, process: Process) -> Problem:
        words = (process.facts.stderr_tail or "").strip()
        said = f"\n{words}" if words else ", and it said nothing on stderr"
        subject, code = self._labels[process.subject], process.facts.exit_code
        how = " under the baseline" if subject.baseline or subject.control else ""
        what = f"{self._started(process)} failed{how}: {process.reason}{said}"
        if process.status != "failed" or not code:
            return Problem("E030", what)
        return Problem("E030", what, do="make it work first without heapwise; if it ends with "
                       f"{code} by design: --ignore-exit {code}")

    def _count(self, measured: Process, subject: Subject) -> None:
        """Processes that are not timed, in which the calls are counted (V3, V8): one of each
        subject. Of a long program only the first subject is counted. If it fails, only those checks
        miss it. What a gate limits is counted in any case, and twice in each build."""
        key, program = (measured.setup, subject.name), self._program(subject, measured.parameters)
        limits = self.plan.options.gate.limits if self.plan.options.gate else {}
        too_long = program.slowest_baseline_s > COUNTED_S and program.reference.known
        if (key in self._counted or self._stop.requested
                or (too_long and subject.name not in self.plan.examples.values()
                    and not limits.keys() & COUNTED.keys())
                or not (native_folder() / COUNTER).exists()):
            return
        self._counted.add(key)
        has_two_labels = subject.baseline or subject.control
        for _ in range(COUNTS if limits and not has_two_labels else 1):
            self._count_once(measured, subject, program)
        self._confirm(measured)

    def _confirm(self, measured: Process) -> None:
        """What seems to have grown beyond its limit is counted again: it may be chance."""
        gate, names = self.plan.options.gate, [s.name for s in self.plan.subjects if not s.control]
        if gate is None or len({name for _, name in self._counted}) < len(self._labels):
            return
        base, new = (self._counts.get(name, []) for name in names)
        metrics = [metric for metric in gate.limits if metric in COUNTED]
        found = [(metric, counts_in(metric, base), counts_in(metric, new)) for metric in metrics]
        if any(before and after and is_suspect(before, after, float(gate.limits[metric]))
               for metric, before, after in found):
            for name in names:
                like = replace(measured, subject=name)
                subject = self._labels[name]
                for _ in range(CONFIRMED - COUNTS):
                    self._count_once(like, subject, self._program(subject, measured.parameters))

    def _count_once(self, measured: Process, subject: Subject, program: WholeProgram) -> None:
        gate = self.plan.options.gate
        if self._stop.requested:
            return
        self._count_calls(measured, subject, program)
        if gate is not None and "instructions" in gate.limits and not gate.by_processor:
            self._count_instructions(measured, subject, program)

    def _count_calls(self, measured: Process, subject: Subject, program: WholeProgram) -> None:
        number = self._next_number()
        self._make_ready(measured, subject, program)
        outcome = program.launch(subject.peer, self._layout(number), self._stop, COUNTER,
                                 program.command_of(measured.round))
        if outcome.interrupted:
            return
        facts = structs.replace(
            with_totals(outcome.facts, outcome.counts), plain_wall_s=measured.facts.wall_s,
            startup_s=self._startup_s(program, subject.peer, number))
        self._record_counting(number, measured, *judge(outcome, None, program.reference), facts)

    def _count_instructions(self, measured: Process, subject: Subject,
                            program: WholeProgram) -> None:
        number = self._next_number()
        file = self._folder.path / "callgrind"
        self._make_ready(measured, subject, program)
        outcome = program.launch(subject.peer, self._layout(number), self._stop, "",
                                 under_callgrind(program.command_of(measured.round), file),
                                 timeout_s=program.longest_s)
        if outcome.interrupted:
            return
        facts = structs.replace(outcome.facts, counting=True, instructions=total_in(file))
        self._record_counting(number, measured, *judge(outcome, None, program.reference), facts)

    def _make_ready(self, measured: Process, subject: Subject, program: WholeProgram) -> None:
        program.work.begin()
        self._commands(subject.build, measured.parameters).prepare(
            {ROUND: measured.round}, self._stop, program.working_directory)

    def _record_counting(self, number: int, measured: Process, status: Status, reason: str,
                         facts: ProcessFacts) -> None:
        if status == "ok":
            self._counts.setdefault(self._of_one(measured.subject), []).append(facts)
        self._record(Process(
            number=number, experiment=EXPERIMENT_ID, subject=measured.subject,
            parameters=measured.parameters, round=-1,
            status="ok" if status == "ok" else "discarded", reason=reason, warm_up=True,
            facts=facts, started_at=now(),
        ))

    def _of_one(self, name: str) -> str:
        """The baseline for either of its labels."""
        subject = self._labels[name]
        return next(s.name for s in self.plan.subjects if s.baseline) if subject.control else name

    def _layout(self, number: int) -> int:
        """The number that decides the size of the environment. What a gate compares exactly is
        counted in one and the same: programs copy their environment."""
        return 0 if self.plan.options.gate else number

    def _startup_s(self, program: WholeProgram, peer: Peer | None, number: int) -> float | None:
        """What starting and ending a process costs under ``peer``, whatever the program does."""
        empty = native_folder() / EMPTY
        if not empty.exists():
            return None
        outcomes = [program.launch(peer, number, self._stop, PROBE, [str(empty)])
                    for _ in range(STARTS) if not self._stop.requested]
        return min((o.facts.wall_s for o in outcomes if o.facts.exit_code == 0 and o.facts.wall_s),
                   default=None)
