"""The processes of ``compare`` that are counted and not timed: calls, instructions, start-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from heapwise.catalog import COUNTER, EMPTY, PROBE, native_folder
from heapwise.evidence.judged_limits import COUNTED, DEAR, OF_MALLOC, counts_in
from heapwise.model import (
    ROUND,
    ChangedNames,
    Peer,
    Plan,
    Process,
    ProcessFacts,
    Setting,
    Setup,
    Status,
    Subject,
)
from heapwise.runner.campaign.executor import Sink, now
from heapwise.runner.campaign.together import may_ask
from heapwise.runner.executors.cachegrind import total_in, under_cachegrind
from heapwise.runner.executors.counting import with_totals
from heapwise.runner.executors.whole_program import WholeProgram
from heapwise.runner.process.commands import Commands
from heapwise.runner.process.launch import Outcome
from heapwise.runner.process.process_status import judge
from heapwise.runner.process.rights import may_be_watched
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.stats.claims.limits import CONFIRMED, COUNTS, is_suspect, runs_to_confirm

STARTS = 3
"""Starts of an empty program, of which the shortest counts."""

COUNTED_S = 10.0
"""Programs that take longer are counted under the baseline alone: one more process for each subject
would cost too much of the user's time."""


NOT_WATCHED = ChangedNames(missing="the program failed while its calls were watched")

COUNTING_SHARE = 0.1
"""The share of the time of a run. After it only the baseline, its second label and the first
subject of each build are counted."""


@dataclass
class CountingRuns:
    """program_of, commands_of: of a subject, and of a build, at the settings of a cell."""

    plan: Plan
    folder: Path
    program_of: Callable[[Subject, Mapping[str, Setting]], WholeProgram]
    commands_of: Callable[[str, Mapping[str, Setting]], Commands]
    _counted: set[tuple[Setup, str]] = field(default_factory=set)
    _counts: dict[str, list[ProcessFacts]] = field(default_factory=dict)
    _spent_s: float = 0.0

    def resume_from(self, process: Process) -> None:
        """One that an earlier invocation counted."""
        self._counted.add((process.setup, process.subject))
        if process.status == "ok":
            self._counts.setdefault(self._of_one(process.subject), []).append(process.facts)

    def begin(self, stop: StopSwitch, record: Sink, next_number: Callable[[], int]) -> None:
        self._stop, self._record, self._next_number = stop, record, next_number

    def count(self, measured: Process, subject: Subject) -> None:
        """Processes that are not timed, in which the calls are counted (V3, V8): one of each
        subject. Of a long program only the first subject is counted. If it fails, only those checks
        miss it. What a gate limits is counted in any case, and twice in each build."""
        key, program = (measured.setup, subject.name), self.program_of(subject, measured.parameters)
        limits = self.plan.limits
        if (
            key in self._counted
            or self._stop.requested
            or (self._is_dear(program, subject) and not limits.keys() & COUNTED.keys())
            or not (native_folder() / COUNTER).exists()
        ):
            return
        self._counted.add(key)
        has_two_labels = subject.baseline or subject.control
        self._count_calls(measured, subject, program)
        for number in range(COUNTS if limits and not has_two_labels else 1):
            for metric in self._metrics if number else self._metrics - OF_MALLOC:
                self._count_metric(metric, measured, subject, program)
        self._confirm(measured)

    def _is_dear(self, program: WholeProgram, subject: Subject) -> bool:
        """Whether counting it would cost too much of the user's time."""
        if subject.name in self.plan.examples.values():
            return False
        too_long = program.slowest_baseline_s > COUNTED_S and program.reference.known
        time_s = 0.0 if self.plan.max_rounds else self.plan.time_s
        return too_long or (0 < time_s * COUNTING_SHARE <= self._spent_s and not subject.control)

    def _confirm(self, measured: Process) -> None:
        """What seems to have grown beyond its limit is counted again: it may be chance."""
        names = [s.name for s in self.plan.subjects if not s.control]
        limits = self.plan.limits
        done = {name for _, name in self._counted}
        if not limits or self.plan.uneven or len(done) < len(self.plan.subjects):
            return
        for metric in self._metrics:
            for _ in range(CONFIRMED - COUNTS):
                if not self._lacks_runs(metric, names):
                    break
                for name in names:
                    like, subject = replace(measured, subject=name), self._subject(name)
                    program = self.program_of(subject, measured.parameters)
                    self._count_metric(metric, like, subject, program)

    @property
    def _metrics(self) -> set[str]:
        """What is counted exactly: one metric of malloc stands for all, which are counted in one
        process."""
        gate = self.plan.options.gate
        limits = set(gate.limits) if gate else set()
        found = {"instructions"} & limits if gate and not gate.by_processor else set()
        return found | set(sorted(OF_MALLOC & limits)[:1])

    def _lacks_runs(self, metric: str, names: Sequence[str]) -> bool:
        """Whether more runs of both builds are needed to say that a metric has regressed."""
        limits = self.plan.limits
        for each in OF_MALLOC & limits.keys() if metric in OF_MALLOC else {metric}:
            base, new = (counts_in(each, self._counts.get(name, [])) for name in names)
            if not base or not new or not is_suspect(base, new, float(limits[each])):
                continue
            if min(len(base), len(new)) < runs_to_confirm(base, new, dear=each in DEAR):
                return True
        return False

    def _count_metric(
        self, metric: str, measured: Process, subject: Subject, program: WholeProgram
    ) -> None:
        if self._stop.requested:
            return
        if metric in OF_MALLOC:
            self._count_calls(measured, subject, program)
        else:
            self._count_instructions(measured, subject, program)

    def _count_calls(self, measured: Process, subject: Subject, program: WholeProgram) -> None:
        number = self._next_number()
        watches = may_ask(self.plan) and may_be_watched(measured)
        outcome = self._launch_counting(measured, subject, program, number, watches=watches)
        status, reason = judge(outcome, None, program.reference)
        if watches and status != "ok" and not outcome.interrupted:
            # A few programs cannot be watched: those that watch themselves, or gain rights.
            outcome = self._launch_counting(measured, subject, program, number, watches=False)
            status, reason = judge(outcome, None, program.reference)
            outcome = replace(
                outcome, facts=structs.replace(outcome.facts, changed_names=NOT_WATCHED)
            )
        if outcome.interrupted:
            return
        facts = structs.replace(
            with_totals(outcome.facts, outcome.counts),
            plain_wall_s=measured.facts.wall_s,
            startup_s=self._startup_s(program, subject.peer, number),
        )
        self._record_counting(number, measured, status, reason, facts)

    def _launch_counting(
        self,
        measured: Process,
        subject: Subject,
        program: WholeProgram,
        number: int,
        *,
        watches: bool,
    ) -> Outcome:
        self._make_ready(measured, subject, program)
        outcome = program.launch(
            subject.peer,
            self._layout(number),
            self._stop,
            COUNTER,
            program.command_of(measured.round),
            watches_names=watches,
        )
        self._conclude(measured, subject, program)
        self._spent_s += float(outcome.facts.wall_s or 0.0)
        return outcome

    def _count_instructions(
        self, measured: Process, subject: Subject, program: WholeProgram
    ) -> None:
        number = self._next_number()
        file = self.folder / "cachegrind"
        self._make_ready(measured, subject, program)
        outcome = program.launch(
            subject.peer,
            self._layout(number),
            self._stop,
            "",
            under_cachegrind(program.command_of(measured.round), file),
            timeout_s=program.longest_s,
        )
        self._conclude(measured, subject, program)
        if outcome.interrupted:
            return
        facts = structs.replace(outcome.facts, counting=True, instructions=total_in(file))
        self._record_counting(number, measured, *judge(outcome, None, program.reference), facts)

    def _make_ready(self, measured: Process, subject: Subject, program: WholeProgram) -> None:
        program.work.begin()
        self.commands_of(subject.build, measured.parameters).prepare(
            {ROUND: measured.round}, self._stop, program.working_directory
        )

    def _conclude(self, measured: Process, subject: Subject, program: WholeProgram) -> None:
        self.commands_of(subject.build, measured.parameters).conclude(
            {ROUND: measured.round}, self._stop, program.working_directory
        )

    def _record_counting(
        self, number: int, measured: Process, status: Status, reason: str, facts: ProcessFacts
    ) -> None:
        if status == "ok":
            self._counts.setdefault(self._of_one(measured.subject), []).append(facts)
        self._record(
            replace(
                measured,
                number=number,
                round=-1,
                status="ok" if status == "ok" else "discarded",
                reason=reason,
                warm_up=True,
                facts=facts,
                identity=[],
                started_at=now(),
            )
        )

    def _subject(self, name: str) -> Subject:
        return next(subject for subject in self.plan.subjects if subject.name == name)

    def _of_one(self, name: str) -> str:
        """The baseline for either of its labels."""
        subject = self._subject(name)
        return next(s.name for s in self.plan.subjects if s.baseline) if subject.control else name

    def _layout(self, number: int) -> int:
        """The number that decides the size of the environment. What a gate compares exactly is
        counted in one and the same: programs copy their environment."""
        return 0 if self.plan.limits else number

    def _startup_s(self, program: WholeProgram, peer: Peer | None, number: int) -> float | None:
        """What starting and ending a process costs under ``peer``, whatever the program does."""
        empty = native_folder() / EMPTY
        if not empty.exists():
            return None
        outcomes = [
            program.launch(peer, number, self._stop, PROBE, [str(empty)])
            for _ in range(STARTS)
            if not self._stop.requested
        ]
        return min(
            (o.facts.wall_s for o in outcomes if o.facts.exit_code == 0 and o.facts.wall_s),
            default=None,
        )
