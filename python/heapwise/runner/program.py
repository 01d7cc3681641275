"""Executes the steps of ``compare``: the user's program, once per step, under one allocator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from heapwise.catalog import COUNTER, EMPTY, PROBE, SYSTEM, find_peers, native_folder, native_part
from heapwise.errors import Problem
from heapwise.evidence.identity import own_allocators
from heapwise.model import (
    Experiment,
    Identity,
    LauncherFacts,
    Peer,
    Plan,
    Process,
    Quantity,
    Sample,
    Subject,
    SubjectSpec,
)
from heapwise.runner.campaign import Record, now
from heapwise.runner.counting import with_totals
from heapwise.runner.environment import of_child, padding
from heapwise.runner.judge import Reference, judge
from heapwise.runner.launch import Launch, Outcome, launch, tail
from heapwise.runner.scratch import ScratchFolder
from heapwise.runner.steps import Step
from heapwise.runner.stop_switch import StopSwitch
from heapwise.runner.work import Work

EXPERIMENT_ID = "compare"
LONGEST_S = 3600.0
"""A program's first process may take as long when no --timeout is given."""

PATIENCE, LEAST_S = 20.0, 30.0
"""Later processes may take this many times as long as the slowest of the baseline, or this many
seconds."""

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
        dropped_repeats=0, seed=None,
    )


def values_of(facts: LauncherFacts) -> dict[str, float]:
    """The quantities of one process, from the launcher's result."""
    found = {
        "wall_time": facts.wall_s, "cpu_time": facts.cpu_s, "peak_memory": facts.peak_rss_bytes,
        "minor_faults": facts.minor_faults, "major_faults": facts.major_faults,
        "voluntary_switches": facts.voluntary_switches,
        "involuntary_switches": facts.involuntary_switches,
    }
    return {name: float(value) for name, value in found.items() if value is not None}


@dataclass
class ProgramExecutor:
    """``environment`` is what the children get, secrets included; the plan has them hidden."""

    plan: Plan
    environment: dict[str, str]
    reference: Reference = field(default_factory=Reference)
    slowest_baseline_s: float = 0.0
    _counted: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.system = next(peer for peer in find_peers() if peer.name == SYSTEM)
        self.reference.ignore_output = self.plan.options.ignore_output
        self.reference.any_exit = self.plan.options.force
        self._folder = ScratchFolder()
        self._work = Work(
            self.plan.options.output_files, self.plan.options.check, self.environment,
            self.plan.working_directory, self._folder.path)
        native_part(PROBE)

    def resume_from(self, processes: list[Process]) -> None:
        """What the earlier invocation knew of the baseline."""
        for process in processes:
            if process.facts.counting:
                self._counted.add(process.subject)
            if process.facts.counting or process.status != "ok":
                continue
            for subject in self.plan.subjects:
                if subject.name == process.subject and (subject.baseline or subject.control):
                    self._learn_exempt(subject, process.identity)
                    self._learn(process)

    def prepare(self, stop: StopSwitch, record: Record, next_number: Callable[[], int]) -> None:
        self._record, self._next_number, self._stop = record, next_number, stop

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Record) -> Process:
        self._work.begin()
        outcome = self._launch(step.subject.peer, number, stop, PROBE)
        first = not self.reference.known and self._is_baseline(step.subject.name)
        if first and not outcome.interrupted:
            self._learn_exempt(step.subject, outcome.identity)
        status, reason = judge(outcome, step.subject.peer, self.reference)
        facts = outcome.facts
        if status == "ok":
            status, reason, files = self._work.judge(stop, self.plan.timeout_s or LONGEST_S)
            facts = structs.replace(facts, output_files=files or None)
        if status != "ok":
            facts = structs.replace(facts, stderr_tail=tail(outcome.stderr))
        process = Process(
            number=number, experiment=EXPERIMENT_ID, subject=step.subject.name, parameters={},
            round=step.round, status=status, reason=reason, warm_up=step.warm_up,
            facts=facts, identity=outcome.identity, started_at=now(),
        )
        if status != "ok":
            return process
        record(Sample(
            process=number, experiment=EXPERIMENT_ID, subject=step.subject.name, parameters={},
            round=step.round, repeat=0, warm_up=step.warm_up, values=values_of(outcome.facts),
        ))
        return process

    def after(self, process: Process) -> None:
        """Problems E030 and E031: what ails the baseline ails the comparison."""
        if process.status == "ok":
            if self._is_baseline(process.subject):
                self._learn(process)
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

    def _learn_exempt(self, subject: Subject, identity: list[Identity]) -> None:
        """Executables that have another allocator although nothing is preloaded keep it."""
        if subject.peer is None or not subject.peer.path:
            self.reference.exempt |= own_allocators(identity, self.system)

    def _learn(self, process: Process) -> None:
        if not self.reference.known:
            self.reference.take(process.facts)
            self._work.expected = process.facts.output_files or {}
        self.slowest_baseline_s = max(self.slowest_baseline_s, process.facts.wall_s or 0.0)

    def _timeout_s(self) -> float:
        if self.plan.timeout_s:
            return self.plan.timeout_s
        known = self.slowest_baseline_s
        return max(LEAST_S, PATIENCE * known) if known else LONGEST_S

    def _launch(
        self, peer: Peer | None, number: int, stop: StopSwitch, watcher: str,
        command: Sequence[str] = (),
    ) -> Outcome:
        library = peer.path if peer and peer.path else ""
        observer = str(native_part(watcher))
        # the counter forwards to the allocator behind it; the probe must not stand before one
        order = (observer, library) if watcher == COUNTER else (library, observer)
        environment = of_child(peer, self.environment, order, padding(self.plan.seed, number))
        what = Launch(
            command or self.plan.command, environment, self._timeout_s(), self.plan.input_path,
            self.plan.working_directory, self.plan.options.cpus,
        )
        return launch(what, self._folder.path, stop)

    def _count(self, measured: Process) -> None:
        """One process of each subject that is not timed, in which the calls are counted (V3, V8).
        Of a long program only the baseline is counted. If it fails, only those checks miss it."""
        name = measured.subject
        too_long = self.slowest_baseline_s > COUNTED_S and self.reference.known
        if (name in self._counted or self._stop.requested
                or (too_long and not self._is_plain_baseline(name))
                or not (native_folder() / COUNTER).exists()):
            return
        self._counted.add(name)
        peer = next(s.peer for s in self.plan.subjects if s.name == name)
        number = self._next_number()
        outcome = self._launch(peer, number, self._stop, COUNTER)
        if outcome.interrupted:
            return
        status, reason = judge(outcome, None, self.reference)
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
        outcomes = [self._launch(peer, number, self._stop, PROBE, [str(empty)])
                    for _ in range(STARTS) if not self._stop.requested]
        return min((o.facts.wall_s for o in outcomes if o.facts.exit_code == 0 and o.facts.wall_s),
                   default=None)

    def _is_plain_baseline(self, name: str) -> bool:
        return any(s.name == name and s.baseline for s in self.plan.subjects)
