"""The rounds of a run: start, judge, store, and know when to end or to give up on a subject."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.evidence.judged_limits import needs_separate, next_look_of
from heapwise.evidence.kept import measured, timed
from heapwise.machine import read_machine
from heapwise.model import Process, Run, Sample, control_name
from heapwise.runner.campaign.executor import Executor, now
from heapwise.runner.campaign.failures import Failures, SetupSubject
from heapwise.runner.campaign.measured_files import Unchanged
from heapwise.runner.campaign.precision import (
    LOOK_AGAIN,
    MAKE_UP,
    limited_half_width,
    reason_to_stop,
    settled,
    widest_half_width,
)
from heapwise.runner.campaign.repeats import LEARNING, choose
from heapwise.runner.campaign.sound_rounds import paired_rounds
from heapwise.runner.campaign.steps import (
    REFERENCE_ROUND,
    Step,
    StepKey,
    key_of,
    reference_steps,
    steps_of_round,
    steps_together,
)
from heapwise.runner.campaign.together import (
    BUSY,
    FILLERS,
    LAST_GROUP,
    LEAST_ROUNDS,
    has_to_ask,
    is_in_vain,
    is_of_time,
    may_choose,
    may_leave,
    most_beside,
    pays,
    pressure_of,
    runs_of,
    slice_of,
)
from heapwise.runner.campaign.usual_times import UsualTimes
from heapwise.runner.campaign.watcher import Progress, ShowsVerdicts, Watcher
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.store import RunWriter, StoredRun

FIRST_LOOK_S, NEXT_LOOK = 10.0, 1.5
"""What is known is shown after this time, and again after this many times the time of the last
look."""


WARM_UP_SHARE = 0.25
"""The share of the time that the user gave: processes that do not count take no more of it."""

BUSY_WARM_UP_SHARE = 1 / 12
"""The same on a busy machine, of any limit of time: what its processes disturb each other is larger
than what a warm-up takes away, and the time is needed for rounds side by side."""


@dataclass
class Campaign:
    """One run, new or resumed; ``stored`` is what it has already."""

    run: Run
    writer: RunWriter
    executor: Executor
    watcher: Watcher
    files: Unchanged
    stored: StoredRun | None = None
    reason: str = ""
    troubles: list[str] = field(default_factory=list)
    """What went wrong after the last round, in words."""

    processes: list[Process] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)

    def go(self) -> Run:
        """Runs to the end of the plan or to the first Ctrl-C; ``state`` says which.

        Problems that end it early (E030, E031, E032, E051 ...) leave a run that can be resumed.
        """
        with StopSwitch() as stop:
            self._take_stored()
            if self.run.plan.precision > 0 or self.run.plan.traits.ends_by == "limits":
                import heapwise.stats.ratios.paired  # noqa: F401  its loading is not charged to the user
            self._start_s = time.monotonic()
            self.watcher.begin(self.run)
            try:
                self.executor.prepare(stop, self._record_first, self._next_number)
                self._run(reference_steps(self.run.plan, self.run.experiments), stop)
                while not stop.requested and not self._enough():
                    self._choose_repeats()
                    self._run(self._steps(self._rounds_begun), stop)
                    self._give_up_together()
                    self._rounds_begun += 1
                    self._show_verdict()
            except BaseException:
                self.troubles = self.executor.finish()
                self._finish("interrupted", quietly=True)
                raise
            self.troubles = self.executor.finish()
            self._finish("interrupted" if stop.requested else "complete")
        return self.run

    def _take_stored(self) -> None:
        self._done: set[StepKey] = set()
        self._failures = Failures(self.run)
        self._rounds_begun = 0
        self._spent_s = 0.0
        self._highest = -1
        self._settled: set[SetupSubject] = set()
        self._look_at = 0.0
        self._usual_times = UsualTimes()
        self._time_is_up = False
        self._next_look_s = FIRST_LOOK_S
        if self.stored is None:
            return
        self._highest = max(
            [p.number for p in self.stored.processes] + [s.process for s in self.stored.samples],
            default=-1,
        )
        self.samples += self.stored.finished_samples
        self._spent_s = self.stored.spent_s
        for process in self.stored.processes:
            if process.status != "interrupted":
                self._note(process)
        begun = max((process.round for process in self.processes), default=-1) + 1
        while self._rounds_begun < begun and self._is_whole(self._rounds_begun):
            self._rounds_begun += 1

    def _run(self, steps: list[Step], stop: StopSwitch) -> None:
        open_steps = [step for step in steps if not self._skip(step)]
        for position, step in enumerate(open_steps):
            if stop.requested or self._is_out_of_time(step):
                return
            if self._skip(step) or self._leaves_out(step):
                continue
            self.watcher.step(step, self._progress(position, len(open_steps)))
            self.files.demand()
            began_s = time.monotonic()
            process = self.executor.execute(step, self._next_number(), stop, self._record)
            self._usual_times.note(step, time.monotonic() - began_s)
            self.files.demand()
            self._record(process)
            self.watcher.done(process)
            if process.status != "interrupted":
                self.executor.after(process)

    def _is_out_of_time(self, step: Step) -> bool:
        """Whether the rest of a round is left out. The time holds the warm-up. Once there is a
        whole round, a process that usually takes more than the rest of the time is not started."""
        plan = self.run.plan
        if plan.traits.ends_by != "intervals" or not plan.time_s:
            return False
        if step.warm_up:
            spent = self.elapsed_s / plan.time_s
            return (plan.options.time_given and spent >= WARM_UP_SHARE) or (
                spent >= BUSY_WARM_UP_SHARE and pressure_of(self.processes) > BUSY
            )
        usual_s = self._usual_times.usual_s(step)
        if step.beside:
            usual_s *= 1 + FILLERS / step.runs
        limit_s = plan.time_s
        begun = self._rounds_begun - (plan.options.together_from or 0)
        if step.beside and begun < LEAST_ROUNDS:
            limit_s *= 1 + LAST_GROUP
        ends_s = self.elapsed_s + usual_s
        self._time_is_up = self._rounds_before_the_end <= self.rounds_done and ends_s > limit_s
        return self._time_is_up

    def _leaves_out(self, step: Step) -> bool:
        """Whether a process of the first round that counts gives its time to groups, which follow.
        The baseline is measured by itself in any case. If the user asked for groups, nobody has
        looked whether processes disturb each other: then each subject is."""
        plan = self.run.plan
        if step.warm_up or step.beside or self.rounds_done or plan.options.side_by_side:
            return False
        if plan.traits.ends_by != "intervals":
            return False
        if self.run.plan.options.together_from is None and self._may_choose(1):
            evidence = self._evidence()
            if may_leave(self.run.plan, self.elapsed_s, evidence):
                self._choose_together(evidence, 0, None, self._rounds_begun + 1)
        if self.run.plan.options.together_from is None:
            return False
        return not step.subject.baseline or any(
            (process.setup, process.subject) == _row(step)
            for process in measured(self._evidence().stored)
        )

    @property
    def _rounds_before_the_end(self) -> int:
        """How many whole rounds a run has at least before its time ends it."""
        plan = self.run.plan
        return 1 if plan.options.time_given else max(1, plan.min_rounds)

    def _show_verdict(self) -> None:
        """What a comparison knows by now, for users who do not want to wait for its end."""
        if (
            self.run.plan.traits.shown_early
            and isinstance(self.watcher, ShowsVerdicts)
            and self.elapsed_s >= self._next_look_s
            and self.rounds_done
        ):
            self.watcher.so_far(self._evidence(), self.elapsed_s)
            self._next_look_s = max(FIRST_LOOK_S, self.elapsed_s) * NEXT_LOOK

    def _choose_repeats(self) -> None:
        """Once, from the first rounds of ``run``. The plan keeps the choice, so that a resumed run
        goes on with it."""
        plan = self.run.plan
        open_ = plan.traits.repeated == "repeat" and not plan.smoke and plan.max_rounds > LEARNING
        if (
            open_
            and self._rounds_begun == LEARNING
            and plan.options.repeats is None
            and (plan.options.chosen_repeats is None)
        ):
            chosen = choose(plan, self.run.experiments, self.processes, self.samples)
            self.run = replace(self.run, plan=chosen)
            self.writer.update(self.run)

    def _is_whole(self, round: int) -> bool:
        together_from = self.run.plan.options.together_from
        if together_from is not None and round >= together_from - 1:
            # Settled rows were left out, and the rest of the round before the first of them.
            return any(process.round == round for process in self.processes)
        steps = self._steps(round)
        if self.run.plan.traits.ends_by == "intervals" and not self.run.plan.max_rounds:
            before = {(p.setup, p.subject) for p in self.processes if p.round == round - 1}
            if round > self.run.plan.warm_up_rounds:
                steps = [step for step in steps if _row(step) in before]
        return all(map(self._skip, steps))

    def _steps(self, round: int) -> list[Step]:
        """The steps of a round beyond the planned ones: what lost a sample, with the baseline
        beside it."""
        plan = self.run.plan
        together_from = plan.options.together_from
        if together_from is not None and round >= together_from:
            return steps_together(
                plan,
                self.run.experiments,
                round,
                lambda row: row in self._settled or self._failures.leaves_out(row),
            )
        steps = steps_of_round(plan, self.run.experiments, round)
        if not plan.max_rounds:
            return [step for step in steps if _row(step) not in self._settled]
        if round < plan.max_rounds + plan.warm_up_rounds:
            return steps
        lost = self._lost_rows()
        setups = {setup for setup, _ in lost}
        return [
            step
            for step in steps
            if step.setup in setups and (_row(step) in lost or _is_reference(step))
        ]

    def _lost_rows(self) -> set[SetupSubject]:
        """The rows of which a process ended well, and which have fewer comparable rounds than
        planned."""
        plan = self.run.plan
        if plan.smoke:
            return set()
        evidence, planned = self._evidence(), plan.max_rounds or plan.min_rounds
        rows = {
            _row(step)
            for step in steps_of_round(plan, self.run.experiments, 0)
            if not self._failures.leaves_out(_row(step))
        }
        ended = {(p.setup, p.subject) for p in self.processes if p.status == "ok" and timed(p)}
        return {row for row in rows & ended if len(paired_rounds(evidence, *row)) < planned}

    def _evidence(self) -> Evidence:
        """The evidence of what this run has measured so far."""
        return Evidence(StoredRun(self.writer.folder, self.run, self.processes, self.samples))

    def _skip(self, step: Step) -> bool:
        return step.key in self._done or self._failures.leaves_out(_row(step))

    def _record_first(self, record: Process | Sample) -> None:
        """What is measured before the first round."""
        self._record(record)
        if isinstance(record, Process):
            self.watcher.done(record)

    def _record(self, record: Process | Sample) -> None:
        self.writer.append(record)
        if isinstance(record, Process):
            if record.status != "interrupted":
                self._note(record)
        else:
            self.samples.append(record)

    def _note(self, process: Process) -> None:
        self.processes.append(process)
        if process.round != REFERENCE_ROUND or process.status == "ok":
            self._done.add(key_of(process))  # a reference that failed shows nothing to the others
        if process.facts.counting:
            return
        if words := self._failures.note(process):
            self.watcher.dropped(words, process.reason)

    def _next_number(self) -> int:
        self._highest += 1
        return self._highest

    def _enough(self) -> bool:
        plan = self.run.plan
        if self._rounds_begun < plan.warm_up_rounds:
            return False
        done = self.rounds_done
        if plan.traits.ends_by == "limits" and not plan.max_rounds and done >= self._look_at:
            due = next_look_of(self._evidence())
            if due is None:
                self.reason = "every limit is decided"
                return True
            self._look_at = due
        width = None
        if plan.precision > 0 and done >= max(plan.min_rounds, self._look_at):
            width = self._half_width()
            self._look_at = done * LOOK_AGAIN
            races = plan.traits.ends_by == "intervals" and not plan.options.keeps_rows
            if races and not plan.max_rounds:
                self._settled = settled(self._evidence())
        if plan.options.together_from is None and self._may_choose(done):
            if width is None and pressure_of(self.processes) <= BUSY:
                width = limited_half_width(self._evidence()) if plan.limits else self._half_width()
            self._choose_together(self._evidence(), done, width, self._rounds_begun)
        elapsed_s = plan.time_s if self._time_is_up else self.elapsed_s
        self.reason = reason_to_stop(plan, done, elapsed_s, width, lost=self._lost(width))
        return bool(self.reason)

    def _may_choose(self, rounds_done: int) -> bool:
        plan = self.run.plan
        if not is_of_time(plan) or rounds_done == 0 or plan.options.asks_first:
            return False
        evidence = self._evidence()
        if plan.limits and needs_separate(evidence):
            return False
        return may_choose(plan, rounds_done, self.elapsed_s, evidence)

    def _choose_together(
        self, evidence: Evidence, rounds_done: int, width: float | None, first: int
    ) -> None:
        """Once, and stored with the plan, so that a resumed run goes on with it: whether subjects
        run beside the baseline from round ``first`` on, or would if the user asked for it."""
        plan = self.run.plan
        most = most_beside(evidence)
        if most > 0 and pays(plan, evidence, rounds_done, self.elapsed_s, width):
            if has_to_ask(plan, evidence):
                options = replace(plan.options, asks_first=True)
            else:
                self._settled = set()  # by separate processes
                self._look_at = 0.0
                options = replace(
                    plan.options,
                    together_from=first,
                    most_beside=most,
                    slice_s=slice_of(evidence),
                    runs_beside=runs_of(plan, evidence, self.elapsed_s),
                )
            self.run = replace(self.run, plan=replace(plan, options=options))
            self.writer.update(self.run)

    def _give_up_together(self) -> None:
        """Goes back to separate processes if the program cannot run beside itself."""
        plan = self.run.plan
        together = [p for p in self.processes if p.facts.beside is not None]
        if plan.options.together_from is None or not is_in_vain(together, self._rounds_begun):
            return
        options = replace(plan.options, together_from=None, side_by_side=False)
        self.run = replace(self.run, plan=replace(plan, options=options))
        self.writer.update(self.run)

    def _lost(self, width: float | None) -> bool:
        """Whether rounds have to be made up. Asked only when the run could end otherwise."""
        plan, done = self.run.plan, self.rounds_done
        if plan.options.together_from is not None:
            return False
        could_end = done >= plan.max_rounds if plan.max_rounds else width is not None
        return could_end and bool(self._lost_rows())

    def _half_width(self) -> float | None:
        """None if the run ends by its rounds alone. Others have one experiment."""
        ends_by = self.run.plan.traits.ends_by
        return widest_half_width(self._evidence()) if ends_by != "rounds" else None

    @property
    def rounds_done(self) -> int:
        """Whole rounds that count; a resumed run begins with those of its earlier invocations."""
        return max(0, self._rounds_begun - self.run.plan.warm_up_rounds)

    @property
    def elapsed_s(self) -> float:
        return self._spent_s + time.monotonic() - self._start_s

    def _progress(self, position: int, total: int) -> Progress:
        """In a round beyond the planned ones, only the most that may come is known."""
        plan = self.run.plan
        makes_up = 0 < plan.max_rounds <= self.rounds_done
        rounds = plan.max_rounds * (MAKE_UP if makes_up else 1) or None
        begun = self._rounds_begun + position / max(1, total)
        elapsed = self.elapsed_s
        by_time = elapsed / plan.time_s if plan.time_s else 0.0
        if rounds:
            share = begun / (rounds + plan.warm_up_rounds)
        else:
            needed = begun / (plan.min_rounds + plan.warm_up_rounds)
            share = min(needed, by_time) if needed < 1 else by_time
        eta = elapsed * (1 - share) / share if 0 < share <= 1 and begun > 0 else None
        if eta is not None and plan.time_s:
            needed = begun / (self._rounds_before_the_end + plan.warm_up_rounds)
            eta = min(eta, max(0.0, plan.time_s - elapsed, elapsed * (1 - needed) / needed))
        return Progress(
            self._rounds_begun + 1,
            rounds and rounds + plan.warm_up_rounds,
            min(share, 1.0),
            eta,
            makes_up,
        )

    def _finish(self, state: str, *, quietly: bool = False) -> None:
        ended = replace(
            self.run,
            state="complete" if state == "complete" else "interrupted",
            machine_after=read_machine(),
            finished=now(),
        )
        try:
            self.writer.update(ended)
        except Problem:
            if not quietly:
                raise
        self.run = ended


def _row(step: Step) -> SetupSubject:
    return step.setup, step.subject.name


def _is_reference(step: Step) -> bool:
    baseline = step.experiment.baseline
    return step.subject.name in (baseline, control_name(baseline))
