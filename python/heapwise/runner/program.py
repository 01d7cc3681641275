"""Executes the steps of ``compare``: the user's program, once per step, under one allocator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from heapwise.catalog import COUNTER, EMPTY, PROBE, native_folder
from heapwise.errors import Problem
from heapwise.model import (
    Experiment,
    Peer,
    Plan,
    Process,
    Quantity,
    Subject,
    SubjectSpec,
)
from heapwise.runner.campaign import Record, now
from heapwise.runner.counting import with_totals
from heapwise.runner.judge import Reference, judge
from heapwise.runner.scratch import ScratchFolder
from heapwise.runner.steps import Step
from heapwise.runner.stop_switch import StopSwitch
from heapwise.runner.whole_program import WholeProgram
from heapwise.runner.work import Work

EXPERIMENT_ID = "compare"

STARTS = 3
"""Of an empty program, of which the shortest counts."""

COUNTED_S = 10.0
"""Programs that take longer are counted under the baseline alone: one more process for each subject
would cost too much of the user's time."""

QUANTITIES = [
    Quantity("wall_time", "s", "lower", "from start to end of the process"),
    Quantity("cpu_time", "s", "lower", "user and system time of the process and its children"),
    Quantity("peak_memory", "bytes", "lower", "high-water mark of resident memory, by the kernel"),
    Quantity("minor_faults", "count", "lower", "pages mapped without reading from a disk"),
    Quantity("major_faults", "count", "lower", "pages read from a disk"),
    Quantity("voluntary_switches", "count", "lower", "times that it waited for something"),
    Quantity("involuntary_switches", "count", "lower", "times that it was put off its processor"),
]


def experiment_of(command: list[str], subjects: list[Subject]) -> Experiment:
    """``compare`` as an experiment, so that analysis and report need to know only one thing."""
    baseline = next(subject.name for subject in subjects if subject.baseline)
    specs = [
        SubjectSpec(subject.name, "inline", subject.title)
        for subject in subjects if not subject.control
    ]
    return Experiment(
        schema=1, id=EXPERIMENT_ID, family=EXPERIMENT_ID,
        question=f"Which allocator suits {Path(command[0]).name}, and what does it buy?",
        isolates="the allocator: program, input, environment and machine stay the same",
        not_shown="other inputs, other loads, and programs that run for days",
        parameters=[], quantities=QUANTITIES, subjects=specs, baseline=baseline, repeats=1,
        dropped_repeats=0,
    )


@dataclass
class ProgramExecutor:
    """``environment`` is what the children get, secrets included; the plan has them hidden."""

    plan: Plan
    environment: dict[str, str]
    _counted: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        plan, options = self.plan, self.plan.options
        self._folder = ScratchFolder()
        work = Work(options.output_files, options.check, self.environment,
                    plan.working_directory, self._folder.path)
        self.program = WholeProgram(
            plan.command, self.environment, plan.seed, self._folder.path, work, plan.input_path,
            plan.working_directory, options.cpus, plan.timeout_s,
            reference=Reference(ignore_output=options.ignore_output, any_exit=options.force),
        )

    def resume_from(self, processes: list[Process]) -> None:
        """What the earlier invocation knew of the baseline."""
        for process in processes:
            if process.facts.counting:
                self._counted.add(process.subject)
            elif self._is_baseline(process.subject):
                self.program.resume_from(process, self._peer(process.subject))

    def prepare(self, stop: StopSwitch, record: Record, next_number: Callable[[], int]) -> None:
        self._record, self._next_number, self._stop = record, next_number, stop

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Record) -> Process:
        return self.program.measure(step, number, stop, record)

    def after(self, process: Process) -> None:
        """Problems E030 and E031: what ails the baseline ails the comparison."""
        if process.status == "ok":
            self._count(process)
        elif not self._is_baseline(process.subject):
            return
        elif process.status == "output_differs":
            raise Problem(
                "E031", f"the output of {self.plan.command[0]} is not the same from one run to "
                "the next, without any change of the allocator",
                why="So it cannot show whether an allocator changes what the program does.",
                do="make the output repeatable, or --ignore-output if the difference is harmless",
            )
        elif process.status != "wrong_allocator":
            raise Problem("E030", self._last_words(process))
        else:
            raise Problem("E040", f"{self.plan.command[0]}: {process.reason}")

    def _last_words(self, process: Process) -> str:
        words = (process.facts.stderr_tail or "").strip()
        said = f"\n{words}\n" if words else " and said nothing on stderr"
        return f"{self.plan.command[0]} failed under the baseline: {process.reason}{said}"

    def _is_baseline(self, name: str) -> bool:
        return any(s.name == name and (s.baseline or s.control) for s in self.plan.subjects)

    def _peer(self, name: str) -> Peer | None:
        return next((s.peer for s in self.plan.subjects if s.name == name), None)

    def _count(self, measured: Process) -> None:
        """One process of each subject that is not timed, in which the calls are counted (V3, V8).
        Of a long program only the baseline is counted. If it fails, only those checks miss it."""
        name, program = measured.subject, self.program
        too_long = program.slowest_baseline_s > COUNTED_S and program.reference.known
        if (name in self._counted or self._stop.requested
                or (too_long and not self._is_plain_baseline(name))
                or not (native_folder() / COUNTER).exists()):
            return
        self._counted.add(name)
        peer = self._peer(name)
        number = self._next_number()
        outcome = program.launch(peer, number, self._stop, COUNTER)
        if outcome.interrupted:
            return
        status, reason = judge(outcome, None, program.reference)
        facts = structs.replace(
            with_totals(outcome.facts, outcome.counts), plain_wall_s=measured.facts.wall_s,
            startup_s=self._startup_s(peer, number))
        self._record(Process(
            number=number, experiment=EXPERIMENT_ID, subject=name, parameters={}, round=-1,
            status="ok" if status == "ok" else "discarded", reason=reason, warm_up=True,
            facts=facts, started_at=now(),
        ))

    def _startup_s(self, peer: Peer | None, number: int) -> float | None:
        """What starting and ending a process costs under ``peer``, whatever the program does."""
        empty = native_folder() / EMPTY
        if not empty.exists():
            return None
        outcomes = [self.program.launch(peer, number, self._stop, PROBE, [str(empty)])
                    for _ in range(STARTS) if not self._stop.requested]
        return min((o.facts.wall_s for o in outcomes if o.facts.exit_code == 0 and o.facts.wall_s),
                   default=None)

    def _is_plain_baseline(self, name: str) -> bool:
        return any(s.name == name and s.baseline for s in self.plan.subjects)
