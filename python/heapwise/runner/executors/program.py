"""Executes the steps of ``compare``: the user's program, once per step, under one allocator."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.errors import Problem
from heapwise.model import (
    ROUND,
    SIDE_BY_SIDE,
    Experiment,
    Plan,
    Process,
    Quantity,
    Setting,
    Settings,
    Subject,
    SubjectSpec,
    filled,
)
from heapwise.runner.campaign.executor import Executor, Sink
from heapwise.runner.campaign.steps import Step
from heapwise.runner.campaign.watcher import ShowsOutput, Watcher
from heapwise.runner.executors.beside import Member, measure_together
from heapwise.runner.executors.counting_runs import CountingRuns
from heapwise.runner.executors.whole_program import LONGEST_S, WholeProgram
from heapwise.runner.plan.builds import Parameters, cells_of, parameters_of
from heapwise.runner.plan.setups import set_up
from heapwise.runner.process.commands import Commands
from heapwise.runner.process.launch import Outcome
from heapwise.runner.process.process_status import Reference
from heapwise.runner.process.scratch import ScratchFolder
from heapwise.runner.process.side_by_side import SideBySide
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.runner.process.work import Work
from heapwise.wording.lists import listed

EXPERIMENT_ID = "compare"

OPEN_FILE = re.compile(r"/(?:dev|proc/self)/fd/\d+$")
"""A file that a shell opened for the program. No process of a comparison has it."""

GROUP_PEAK = Quantity(
    "group_peak",
    "bytes",
    "lower",
    "most memory of its control group, by the kernel: its "
    "processes, their page tables, the kernel's buffers, and files it was first to use",
)

QUANTITIES = [
    Quantity("wall_time", "s", "lower", "from start to end of the process"),
    Quantity("cpu_time", "s", "lower", "user and system time of the process and its children"),
    Quantity(
        SIDE_BY_SIDE,
        "ratio",
        "lower",
        "user and system time, as a ratio to that of the baseline that ran at the same time on "
        "the same processor",
        relative=True,
    ),
    Quantity("user_time", "s", "lower", "time in the program and its children"),
    Quantity("system_time", "s", "lower", "time in the kernel, for the program and its children"),
    Quantity(
        "peak_memory",
        "bytes",
        "lower",
        "most resident memory: the kernel's mark of its "
        "largest process, and at least what several processes had at a moment looked at",
    ),
    Quantity(
        "tree_peak",
        "bytes",
        "lower",
        "at least the most memory that all its processes had "
        "together, of the moments looked at, with shared memory that none maps; a page that "
        "several share counts in equal parts",
    ),
    Quantity("mean_memory", "bytes", "lower", "of all its processes together, over the time"),
    Quantity("end_memory", "bytes", "lower", "of all its processes together, when last looked at"),
    GROUP_PEAK,
    Quantity("minor_faults", "count", "lower", "pages mapped without reading from a disk"),
    Quantity("major_faults", "count", "lower", "pages read from a disk"),
    Quantity("voluntary_switches", "count", "lower", "times that it waited for something"),
    Quantity("involuntary_switches", "count", "lower", "times that it was put off its processor"),
]


def experiment_of(
    command: list[str], subjects: list[Subject], parameters: Parameters | None = None
) -> Experiment:
    """``compare`` as an experiment, so that analysis and report need to know only one thing."""
    baseline = next(subject.name for subject in subjects if subject.baseline)
    builds = list(dict.fromkeys(subject.build for subject in subjects))
    question, isolates = (
        f"Which allocator suits {Path(command[0]).name}, and what does it buy?",
        "the allocator: program, input, environment and machine stay the same",
    )
    if len(builds) > 1:
        question = f"Which of {listed(builds, len(builds))} is better, and by how much?"
        isolates = "the program: input, environment and machine stay the same"
    specs = [
        SubjectSpec(subject.name, "inline", subject.title)
        for subject in subjects
        if not subject.control
    ]
    return Experiment(
        schema=1,
        id=EXPERIMENT_ID,
        family=EXPERIMENT_ID,
        question=question,
        isolates=isolates,
        not_shown="other inputs, other loads, and programs that run for days",
        parameters=parameters_of(parameters or {}),
        quantities=QUANTITIES,
        subjects=specs,
        baseline=baseline,
        repeats=1,
        dropped_repeats=0,
    )


@dataclass
class ProgramExecutor:
    """``environment`` is what the children get, secrets included; the plan has them hidden."""

    plan: Plan
    environment: dict[str, str]
    shown: Callable[[Step, Outcome], None] | None = None
    """Gets the output of each process."""

    is_set_up: bool = False
    """Whether the commands of --setup have run."""

    _worked: set[tuple[str, Settings]] = field(default_factory=set)
    """Subjects at settings in which a process by itself did its work."""

    _groups: SideBySide = field(default_factory=SideBySide)
    _stop: StopSwitch | None = None
    _programs: dict[tuple[str, Settings], WholeProgram] = field(default_factory=dict)

    _failed: set[tuple[str, Settings]] = field(default_factory=set)
    """Builds at settings in which a process failed before any had done its work."""

    def __post_init__(self) -> None:
        self._folder = ScratchFolder()
        self._labels = {s.name: s for s in self.plan.subjects}
        self._examples = set(self.plan.examples.values()) | {
            s.name for s in self.plan.subjects if s.baseline or s.control
        }
        self._counting = CountingRuns(self.plan, self._folder.path, self._program, self._commands)

    def resume_from(self, processes: list[Process]) -> None:
        """What the earlier invocation knew of each build."""
        for process in processes:
            subject = self._labels.get(process.subject)
            if subject is None:
                continue
            if process.facts.beside is None:
                self._note(process)
            if process.facts.counting:
                self._counting.resume_from(process)
            elif subject.name in self._examples:
                self._program(subject, process.parameters).resume_from(process, subject.peer)

    def prepare(self, stop: StopSwitch, record: Sink, next_number: Callable[[], int]) -> None:
        """Problem E034 of the commands of --setup."""
        self._next_number, self._stop = next_number, stop
        self._counting.begin(stop, record, next_number)
        if not self.is_set_up and (failed := set_up(self._every_commands(), stop)):
            raise failed[0][1]

    def finish(self) -> list[str]:
        """Waits for what still runs, and runs the commands of --cleanup; what went wrong with them,
        in words."""
        if self._stop is not None:
            self._groups.finish(self._stop)
        return [words for commands in self._every_commands() if (words := commands.cleanup())]

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Sink) -> Process:
        program = self._program(step.subject, step.parameters)
        if step.beside:
            cell = Settings.of(step.parameters)
            members = [
                Member(
                    subject,
                    self._program(subject, step.parameters),
                    self._next_number(),
                    worked=(subject.name, cell) in self._worked,
                )
                for subject in step.beside
            ]
            baseline = Member(step.subject, program, number)
            return measure_together(self._groups, step, baseline, members, stop, record)
        self._groups.finish(stop)
        commands = self._commands(step.subject.build, step.parameters)
        place = {ROUND: step.round}, stop, program.working_directory
        process = program.measure(
            step,
            number,
            stop,
            record,
            sets_example=step.subject.name in self._examples,
            before=lambda: commands.prepare(*place),
            shown=self.shown,
        )
        commands.conclude(*place)
        self._note(process)
        return process

    def _note(self, process: Process) -> None:
        if process.status == "ok":
            self._worked.add((process.subject, Settings.of(process.parameters)))

    def after(self, process: Process) -> None:
        """Problems E031 and E040 of the baseline, and E030 if a build does not do its work in any
        setting. One that has done it before, or does it in another setting, is only a row that
        failed."""
        subject = self._labels[process.subject]
        known = self._program(subject, process.parameters).reference.known
        if process.status == "ok":
            self._counting.count(process, subject)
        elif not (subject.baseline or subject.control) and (
            known or subject.name not in self._examples
        ):
            return
        elif process.status == "output_differs":
            command = shlex.join(self.plan.build_of(process.subject).started(process.parameters))
            raise Problem(
                "E031",
                f"the output of {self._started(process)} is not the same from one run to "
                "the next, without any change of the allocator",
                why="So it cannot show whether an allocator changes what the program does.",
                do=f"see the difference: diff <({command}) <({command}); then make the output "
                "repeatable, or --ignore-output if the difference is harmless. If diff shows none, "
                "the program prints its environment: HEAPWISE_PAD has another length in each "
                "process",
            )
        elif process.status != "wrong_allocator":
            if not known and self._fails_everywhere(process, subject):
                raise self._failure(process)
        else:
            raise Problem("E040", f"{self._started(process)}: {process.reason}")

    def _fails_everywhere(self, process: Process, subject: Subject) -> bool:
        """Whether the build failed in each of its settings, and did its work in none."""
        self._failed.add((subject.build, Settings.of(process.parameters)))
        return all(
            (subject.build, Settings.of(cell)) in self._failed
            and not self._program(subject, cell).reference.known
            for cell in cells_of(self.plan.parameters)
        )

    def _program(self, subject: Subject, cell: Mapping[str, Setting]) -> WholeProgram:
        """The program of a build at the settings of a cell; made when it is first asked for."""
        key = subject.build, Settings.of(cell)
        if key not in self._programs:
            plan, options = self.plan, self.plan.options
            place = (
                str(self._folder.path / "fresh") if options.fresh_folder else plan.working_directory
            )
            work = Work(
                [filled(name, cell) for name in options.output_files],
                filled(options.check, cell),
                self.environment,
                place,
                self._folder.path,
                is_fresh=options.fresh_folder,
            )
            build = plan.build_named(subject.build)
            self._programs[key] = WholeProgram(
                build.started(cell),
                self.environment | build.variables(cell),
                plan.seed,
                self._folder.path,
                work,
                plan.input_path,
                place,
                options.cpus,
                plan.timeout_s,
                reference=Reference(
                    ignore_output=options.ignore_output,
                    any_exit=options.force,
                    ignores_exits=options.any_exit,
                    ignored_exits=frozenset(
                        [0, *options.ignored_exits] if options.ignored_exits else []
                    ),
                ),
                place=plan.places.get(subject.build),
            )
        return self._programs[key]

    def _every_commands(self) -> list[Commands]:
        return [
            self._commands(build.name, cell)
            for build in self.plan.builds
            for cell in cells_of(self.plan.parameters)
        ]

    def _commands(self, build: str, cell: Mapping[str, Setting]) -> Commands:
        return Commands(
            self.plan.build_named(build),
            cell,
            self.environment,
            self.plan.working_directory,
            self._folder.path,
            self._limit_s,
        )

    @property
    def _limit_s(self) -> float:
        return self.plan.timeout_s or LONGEST_S

    def _command(self, process: Process) -> list[str]:
        return self.plan.build_of(process.subject).started(process.parameters)

    def _started(self, process: Process) -> str:
        """The program of a process, by its name, where it is, and the settings."""
        build = self.plan.build_of(process.subject)
        program = self._command(process)[0]
        cell = " ".join(f"{name}={value}" for name, value in process.parameters.items())
        words = f"{build.name} ({program})" if build.name else program
        return f"{words} with {cell}" if cell else words

    def _failure(self, process: Process) -> Problem:
        words = (process.facts.stderr_tail or "").strip()
        said = f"\n{words}" if words else ", and it said nothing on stderr"
        subject, code = self._labels[process.subject], process.facts.exit_code
        how = " under the baseline" if subject.baseline or subject.control else ""
        what = f"{self._started(process)} failed{how}: {process.reason}{said}"
        ways = ["make it work first without heapwise"]
        if removed := self.plan.options.removed_environment:
            ways.append(f"if it needs {listed(removed)}, which it did not get: --keep-env")
        if any(OPEN_FILE.match(word) for word in self._command(process)):
            ways.append("write what <(...) gives into a file: each process reads all of it")
        if process.status == "timed_out":
            ways.append(f"if it needs more time: --timeout {10 * self._limit_s:g}s")
        if process.status == "failed" and code:
            ways.append(f"if it ends with {code} by design: --ignore-exit {code}")
        return Problem("E030", what, do="; ".join(ways) if len(ways) > 1 else "")


def program_executor(
    plan: Plan,
    environment: Mapping[str, str],
    experiments: list[Experiment],
    watcher: Watcher,
    *,
    is_set_up: bool = False,
) -> Executor:
    """The executor of a comparison of programs. is_set_up: the commands of --setup have run."""
    executor = ProgramExecutor(plan, dict(environment), is_set_up=is_set_up)
    if plan.options.show_output and isinstance(watcher, ShowsOutput):
        executor.shown = watcher.printed
    return executor
