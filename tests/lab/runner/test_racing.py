"""A row that is decided stops, and the others get its time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from synthetic import Script, compare_run

from heapwise.evidence import Evidence
from heapwise.model import Process, ProcessFacts, Run, Sample
from heapwise.runner.campaign.campaign import Campaign
from heapwise.runner.campaign.executor import Sink
from heapwise.runner.campaign.measured_files import Unchanged
from heapwise.runner.campaign.precision import settled
from heapwise.runner.campaign.steps import Step
from heapwise.runner.campaign.watcher import Progress
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.store import RunWriter, StoredRun, read_run

TOOK_S = 1.0


@dataclass
class Processes:
    """Each takes a second of a clock that only it moves; its figure is drawn."""

    times: dict[str, float]
    noise: float = 0.01
    now_s: float = 1000.0
    ends_after: int = 10_000
    rounds: Counter[str] = field(default_factory=Counter)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def monotonic(self) -> float:
        return self.now_s

    def resume_from(self, processes: list[Process]) -> None: ...

    def prepare(self, stop: StopSwitch, record: Sink, next_number: Callable[[], int]) -> None: ...

    def finish(self) -> list[str]:
        return []

    def after(self, process: Process) -> None: ...

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Sink) -> Process:
        if sum(self.rounds.values()) >= self.ends_after:
            raise KeyboardInterrupt
        self.now_s += TOOK_S
        name = step.subject.name
        self.rounds[name] += not step.warm_up
        value = self.times.get(name, 1.0) * float(self.random.lognormal(0, self.noise))
        values = {"wall_time": value}
        record(Sample(number, "compare", name, {}, step.round, 0, step.warm_up, values))
        facts = ProcessFacts(wall_s=TOOK_S)
        return Process(
            number, "compare", name, {}, step.round, "ok", warm_up=step.warm_up, facts=facts
        )


class Silent:
    def begin(self, run: Run) -> None: ...

    def step(self, step: Step, progress: Progress) -> None: ...

    def done(self, process: Process) -> None: ...

    def dropped(self, subject: str, reason: str) -> None: ...


def planned() -> Run:
    """A comparison of glibc, its control and three allocators, which has two minutes."""
    run = compare_run(Script()).run
    options = replace(run.plan.options, side_by_side=False)
    plan = replace(
        run.plan, time_s=120.0, max_rounds=0, min_rounds=6, precision=0.0001, options=options
    )
    return replace(run, plan=plan, state="running")


def campaign(folder: Path, executor: Processes, stored: StoredRun | None = None) -> Campaign:
    run = stored.run if stored else planned()
    writer = RunWriter.reopen(stored.path) if stored else RunWriter.create(folder, run)
    return Campaign(run, writer, executor, Silent(), Unchanged({}), stored)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    all_processes = Processes({"scudo": 1.3, "jemalloc": 0.85})
    monkeypatch.setattr(time, "monotonic", all_processes.monotonic)
    return all_processes


def test_decided_rows_stop_and_the_others_get_their_time(
    tmp_path: Path, processes: Processes
) -> None:
    campaign(tmp_path, processes).go()
    rounds = processes.rounds
    assert rounds["scudo"] <= 9
    assert rounds["jemalloc"] <= 9
    assert rounds["mimalloc"] > 2 * rounds["scudo"]
    assert rounds["glibc"] == pytest.approx(rounds["mimalloc"], abs=1)
    assert sum(rounds.values()) <= 120


def test_a_resumed_run_does_not_run_what_was_left_out(tmp_path: Path, processes: Processes) -> None:
    processes.ends_after = 80
    first = campaign(tmp_path, processes)
    with pytest.raises(KeyboardInterrupt):
        first.go()
    first.writer.close()
    stored = read_run(tmp_path, first.run.id)
    before = dict(processes.rounds)
    processes.ends_after = 10_000
    campaign(tmp_path, processes, stored).go()
    assert processes.rounds["scudo"] <= before["scudo"] + 1
    assert processes.rounds["mimalloc"] > before["mimalloc"]


def test_a_given_number_of_rounds_is_measured_of_every_row(
    tmp_path: Path, processes: Processes
) -> None:
    one = campaign(tmp_path, processes)
    one.run = replace(one.run, plan=replace(one.run.plan, max_rounds=12))
    one.go()
    assert processes.rounds["scudo"] == processes.rounds["mimalloc"] == 12


def test_rows_are_not_left_out_if_all_are_decided() -> None:
    decided = Evidence(compare_run(Script(noise=0.001)))
    assert settled(decided) == set()


def test_a_row_within_the_noise_is_not_decided() -> None:
    times = {"glibc": 1.0, "glibc-control": 1.0, "mimalloc": 1.0, "scudo": 1.3}
    found = settled(Evidence(compare_run(Script(time=times, memory=dict.fromkeys(times, 1.0)))))
    assert {subject for _, subject in found} == {"scudo"}
