"""The time that a user gives holds everything: the warm-up, and the round that is under way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from msgspec import structs
from synthetic import Script, compare_run

from heapwise.cli.frame.tell.progress import describe
from heapwise.model import Beside, Process, ProcessFacts, Run, Sample
from heapwise.runner.campaign.campaign import BUSY_WARM_UP_SHARE, WARM_UP_SHARE, Campaign
from heapwise.runner.campaign.executor import Sink
from heapwise.runner.campaign.measured_files import Unchanged
from heapwise.runner.campaign.steps import Step
from heapwise.runner.campaign.usual_times import UsualTimes
from heapwise.runner.campaign.watcher import Progress
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.store import RunWriter, read_run
from heapwise.store.time_spent import spent_s


@dataclass
class Clock:
    now_s: float = 1000.0

    def monotonic(self) -> float:
        return self.now_s


@dataclass
class SlowProcesses:
    """Each takes the same time of a clock that only it moves."""

    clock: Clock
    took_s: float
    waited: float = 0.0
    """The share of it in which something waited for a processor."""

    facts: ProcessFacts = field(default_factory=ProcessFacts)
    """What is known of each beside its times."""

    group_s: float = 0.0
    """How long a group takes; 0: as long as a process."""

    stopped_after_s: float = 1e9
    """The user stops the run at the first process after this time of the clock."""

    warm: int = 0
    steps: list[Step] = field(default_factory=list)

    def resume_from(self, processes: list[Process]) -> None: ...

    def prepare(self, stop: StopSwitch, record: Sink, next_number: Callable[[], int]) -> None:
        self.next_number = next_number

    def finish(self) -> list[str]:
        return []

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Sink) -> Process:
        if self.clock.now_s >= self.stopped_after_s:
            raise KeyboardInterrupt
        took_s = self.group_s if step.beside and self.group_s else self.took_s
        self.clock.now_s += took_s
        self.warm += step.warm_up
        self.steps.append(step)
        record(
            Sample(
                number,
                "compare",
                step.subject.name,
                {},
                step.round,
                0,
                step.warm_up,
                {"wall_time": self.took_s * (1 + number % 7)},
            )
        )
        beside = Beside(number, len(step.beside) + 1, overlap=1.0, runs=step.runs)
        facts = structs.replace(
            self.facts,
            wall_s=took_s / step.runs,
            psi_cpu_us=int(self.waited * took_s * 1_000_000),
            beside=beside if step.beside else None,
        )

        def process(number: int, name: str) -> Process:
            return Process(
                number,
                "compare",
                name,
                {},
                step.round,
                "ok",
                warm_up=step.warm_up,
                facts=facts,
            )

        for other in step.beside:
            record(process(self.next_number(), other.name))
        return process(number, step.subject.name)

    def after(self, process: Process) -> None: ...


@dataclass
class Watching:
    clock: Clock
    estimates: list[tuple[float, float]] = field(default_factory=list)

    def begin(self, run: Run) -> None: ...

    def step(self, step: Step, progress: Progress) -> None:
        if progress.eta_s is not None:
            self.estimates.append((self.clock.now_s - 1000, progress.eta_s))

    def done(self, process: Process) -> None: ...

    def dropped(self, subject: str, reason: str) -> None: ...


def timed_run(folder: Path, executor: SlowProcesses, watcher: Watching) -> Campaign:
    """Five labels, a warm-up round, and a minute."""
    run = compare_run(Script()).run
    plan = replace(
        run.plan,
        time_s=60.0,
        max_rounds=0,
        min_rounds=6,
        precision=0.0001,
        warm_up_rounds=1,
        options=replace(run.plan.options, time_given=True),
    )
    run = replace(run, plan=plan, state="running")
    campaign = Campaign(run, RunWriter.create(folder, run), executor, watcher, Unchanged({}))
    try:
        campaign.go()
    finally:
        campaign.writer.close()
    return campaign


@pytest.mark.parametrize("took_s", [1.0, 3.0, 5.0])
def test_a_run_ends_with_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, took_s: float
) -> None:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    executor, watcher = SlowProcesses(clock, took_s), Watching(clock)
    campaign = timed_run(tmp_path, executor, watcher)
    assert 60 - took_s < clock.now_s - 1000 <= 60
    assert executor.warm * took_s <= WARM_UP_SHARE * 60 + took_s
    assert campaign.rounds_done >= 1
    assert len(watcher.estimates) > 3
    assert max(at_s + eta_s for at_s, eta_s in watcher.estimates) <= 60.001


@pytest.mark.parametrize(("waited", "share"), [(0.9, BUSY_WARM_UP_SHARE), (0.2, WARM_UP_SHARE)])
def test_a_busy_machine_warms_up_for_a_shorter_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waited: float, share: float
) -> None:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    executor = SlowProcesses(clock, 3.0, waited)
    timed_run(tmp_path, executor, Watching(clock))
    assert share * 60 <= executor.warm * 3.0 <= share * 60 + 3.0


def test_a_busy_machine_goes_side_by_side_within_the_first_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven processes of 5 s, and as many again, would take longer than the minute."""
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    facts = ProcessFacts(user_s=0.5, system_s=0.0, peak_rss_bytes=2**20, written_elsewhere_bytes=0)
    executor = SlowProcesses(clock, 5.0, 0.9, facts)
    campaign = timed_run(tmp_path, executor, Watching(clock))
    alone = [step for step in executor.steps if not step.warm_up and not step.beside]
    groups = [step for step in executor.steps if step.beside]
    assert sum(step.subject.baseline for step in alone) == 1
    assert len(alone) <= 3
    assert len(groups) >= 3
    assert executor.steps.index(groups[0]) > executor.steps.index(alone[-1])
    assert campaign.run.plan.options.together_from == groups[0].round == alone[-1].round + 1
    assert clock.now_s - 1000 <= 60


@pytest.mark.parametrize(("group_s", "groups"), [(10.0, 3), (12.0, 3), (15.0, 2)])
def test_the_third_group_may_take_a_tenth_more_than_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group_s: float, groups: int
) -> None:
    """Fewer than three say nothing. A minute has no room for six rounds of five processes of
    1.8 s. Of a group of 12 s the fillers are waited for until 64 s at the latest, of 15 s later."""
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    facts = ProcessFacts(user_s=1.8, system_s=0.0, peak_rss_bytes=2**20, written_elsewhere_bytes=0)
    executor = SlowProcesses(clock, 1.8, 0.1, facts, group_s)
    timed_run(tmp_path, executor, Watching(clock))
    assert sum(bool(step.beside) for step in executor.steps) == groups


def test_a_resumed_run_has_the_rest_of_its_time_for_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All processes of a group have the same seconds. They are over once."""
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    facts = ProcessFacts(user_s=0.5, system_s=0.0, peak_rss_bytes=2**20, written_elsewhere_bytes=0)
    executor = SlowProcesses(clock, 1.0, 0.9, facts, group_s=4.0, stopped_after_s=1035.0)
    with pytest.raises(KeyboardInterrupt):
        timed_run(tmp_path, executor, Watching(clock))
    before = sum(bool(step.beside) for step in executor.steps)
    assert before >= 3
    executor.stopped_after_s = 1e9
    [path] = (tmp_path / "runs").iterdir()
    stored = read_run(tmp_path, path.name)
    writer = RunWriter.reopen(stored.path)
    Campaign(stored.run, writer, executor, Watching(clock), Unchanged({}), stored).go()
    assert sum(bool(step.beside) for step in executor.steps) >= before + 3
    assert 60 - 2 * 4 < clock.now_s - 1000 <= 60


def beside(number: int, baseline: int, wall_s: float, runs: int) -> Process:
    facts = ProcessFacts(wall_s=wall_s, beside=Beside(baseline, 2, runs=runs))
    return Process(number, "compare", "glibc", {}, 1, "ok", facts=facts)


def test_a_group_takes_as_long_as_all_runs_of_its_longest_member() -> None:
    alone = Process(0, "compare", "glibc", {}, 0, "ok", facts=ProcessFacts(wall_s=1.5))
    unknown = Process(1, "compare", "glibc", {}, 0, "failed")
    first = [beside(2, 2, 1.0, 3), beside(3, 2, 2.0, 3)]
    second = [beside(4, 4, 0.5, 1), beside(5, 4, 0.4, 1)]
    assert spent_s([alone, unknown, *first, *second]) == 1.5 + 3 * 2.0 + 0.5


def test_a_process_that_was_held_up_says_nothing_of_the_next() -> None:
    run = compare_run(Script()).run
    step = Step(run.experiments[0], run.plan.subjects[0], {}, 1)
    beside = replace(step, beside=(run.plan.subjects[2],))
    times = UsualTimes()
    assert times.usual_s(step) == 0.0
    for took_s in (2.0, 90.0, 2.5):
        times.note(step, took_s)
    assert (times.usual_s(step), times.usual_s(beside)) == (2.5, 0.0)


def test_one_whole_round_takes_longer_than_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the estimate is that of the round, and of no round more."""
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    executor, watcher = SlowProcesses(clock, 20.0), Watching(clock)
    campaign = timed_run(tmp_path, executor, watcher)
    assert campaign.rounds_done == 1
    assert executor.warm == 1
    ends = [at_s + eta_s for at_s, eta_s in watcher.estimates]
    assert clock.now_s - 1000 == 20.0 * 6
    assert max(ends) <= 20.0 * 10 + 0.001


def test_a_process_beyond_the_estimate_shows_no_estimate() -> None:
    step = Step(
        compare_run(Script()).run.experiments[0], compare_run(Script()).run.plan.subjects[0], {}, 1
    )
    assert "eta 0:09" in describe(step, Progress(2, None, 0.5, 12.0), 3.0)
    assert "eta" not in describe(step, Progress(2, None, 0.5, 12.0), 29.0)
