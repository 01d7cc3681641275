"""Rounds whose samples do not count are run again, and only where they are missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from synthetic import pool_run

from heapwise.evidence import Evidence, comparisons_of
from heapwise.model import Process, ProcessFacts, Run, Sample, SampleFacts, Setup
from heapwise.runner.campaign.campaign import Campaign
from heapwise.runner.campaign.executor import Sink
from heapwise.runner.campaign.measured_files import Unchanged
from heapwise.runner.campaign.sound_rounds import paired_rounds, sound_rounds
from heapwise.runner.campaign.steps import Step
from heapwise.runner.campaign.watcher import Progress
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.store import RunWriter, read_run

Disturbed = Callable[[Step], bool]


@dataclass
class InProcess:
    """Executes a step without a process. ``disturbed``: the hypervisor took a tenth of its time."""

    disturbed: Disturbed
    steps: list[Step] = field(default_factory=list)

    def resume_from(self, processes: list[Process]) -> None: ...

    def prepare(self, stop: StopSwitch, record: Sink, next_number: Callable[[], int]) -> None: ...

    def finish(self) -> list[str]:
        return []

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Sink) -> Process:
        self.steps.append(step)
        for repeat in range(1, 3):
            record(
                Sample(
                    number,
                    step.experiment.id,
                    step.subject.name,
                    step.parameters,
                    step.round,
                    repeat,
                    step.warm_up,
                    {step.experiment.quantities[0].name: 5.0 + repeat},
                )
            )
        ticks = 10 if self.disturbed(step) else 0
        return Process(
            number,
            step.experiment.id,
            step.subject.name,
            step.parameters,
            step.round,
            "ok",
            warm_up=step.warm_up,
            facts=ProcessFacts(steal_ticks=ticks, wall_s=1.0),
        )

    def after(self, process: Process) -> None: ...


class Silent:
    def begin(self, run: Run) -> None: ...

    def step(self, step: Step, progress: Progress) -> None: ...

    def done(self, process: Process) -> None: ...

    def dropped(self, subject: str, reason: str) -> None: ...


def planned(rounds: int) -> Run:
    run = pool_run(rounds=rounds, threads=[1, 2]).run
    control = replace(
        next(s for s in run.plan.subjects if s.baseline),
        baseline=False,
        control=True,
        name="malloc@glibc-control",
    )
    plan = replace(
        run.plan,
        subjects=[*run.plan.subjects, control],
        min_rounds=rounds,
        max_rounds=rounds,
        precision=0.0,
        time_s=0.0,
        warm_up_rounds=0,
    )
    return replace(run, plan=plan, state="running")


def conduct(folder: Path, run: Run, disturbed: Disturbed) -> tuple[Evidence, list[Step]]:
    executor = InProcess(disturbed)
    with RunWriter.create(folder, run) as writer:
        Campaign(run, writer, executor, Silent(), Unchanged({})).go()
    return Evidence(read_run(folder, run.id)), executor.steps


def rows(evidence: Evidence) -> dict[tuple[Setup, str], int]:
    return {
        (setup, subject): len(paired_rounds(evidence, setup, subject))
        for setup, row in sound_rounds(evidence).items()
        for subject in row
    }


def test_without_losses_exactly_the_planned_rounds_are_run(tmp_path: Path) -> None:
    evidence, steps = conduct(tmp_path, planned(6), lambda step: False)
    assert {step.round for step in steps} == set(range(6))
    assert set(rows(evidence).values()) == {6}


def test_a_lost_round_is_made_up_for_its_row_and_its_baseline_only(tmp_path: Path) -> None:
    def lost(step: Step) -> bool:
        return (
            step.subject.name == "mutex" and step.round == 2 and (step.experiment.id == "pool/bulk")
        )

    evidence, steps = conduct(tmp_path, planned(6), lost)
    more = {(step.experiment.id, step.subject.name) for step in steps if step.round == 6}
    assert more == {
        ("pool/bulk", name) for name in ("mutex", "malloc@glibc", "malloc@glibc-control")
    }
    assert max(step.round for step in steps) == 6
    assert min(rows(evidence).values()) == 6


def test_a_row_that_lost_all_its_rounds_is_made_up(tmp_path: Path) -> None:
    evidence, steps = conduct(
        tmp_path,
        planned(1),
        lambda step: (
            step.round == 0 and (step.subject.name == "mutex" and step.experiment.id == "pool/bulk")
        ),
    )
    assert {step.subject.name for step in steps if step.round == 1} == {
        "mutex",
        "malloc@glibc",
        "malloc@glibc-control",
    }
    assert min(rows(evidence).values()) == 1


def test_of_rounds_beyond_the_planned_ones_the_most_that_may_come_is_told(tmp_path: Path) -> None:
    seen: list[Progress] = []

    class Remembers(Silent):
        def step(self, step: Step, progress: Progress) -> None:
            seen.append(progress)

    run = planned(2)
    executor = InProcess(lambda step: step.subject.name == "mutex" and step.round == 0)
    with RunWriter.create(tmp_path, run) as writer:
        Campaign(run, writer, executor, Remembers(), Unchanged({})).go()
    more = [each for each in seen if each.round > 2]
    assert {(each.rounds, each.makes_up) for each in more} == {(4, True)}
    assert all(0 < each.share < 1 and (each.eta_s or 0) > 0 for each in more)
    assert {(each.rounds, each.makes_up) for each in seen if each.round <= 2} == {(2, False)}


def test_a_lost_baseline_costs_a_round_of_the_noise_floor_and_is_made_up(tmp_path: Path) -> None:
    evidence, steps = conduct(
        tmp_path, planned(6), lambda step: step.round == 1 and (step.subject.name == "malloc@glibc")
    )
    assert {step.subject.name for step in steps if step.round == 6} == {
        "malloc@glibc",
        "malloc@glibc-control",
    }
    assert {len(pairs.rounds) for pairs in comparisons_of(evidence).control_pairs.values()} == {6}


def test_a_machine_that_always_disturbs_ends_the_run_all_the_same(tmp_path: Path) -> None:
    """A rule strikes a fifth of all samples, those of one subject in every round."""
    _, steps = conduct(tmp_path, planned(6), lambda step: step.subject.name == "lock_free")
    assert max(step.round for step in steps) < 12


def test_a_resumed_run_makes_up_what_an_interrupted_one_did_not(tmp_path: Path) -> None:
    run = planned(6)
    executor = InProcess(lambda step: step.subject.name == "mutex" and step.round == 0)
    with RunWriter.create(tmp_path, run) as writer:
        campaign = Campaign(run, writer, executor, Silent(), Unchanged({}))
        campaign.go()
    done = {step.key for step in executor.steps}
    stored = read_run(tmp_path, run.id)
    cut = replace(
        stored,
        processes=[p for p in stored.processes if p.round < 6],
        samples=[s for s in stored.samples if s.round < 6],
    )
    again = InProcess(lambda step: False)
    with RunWriter.create(tmp_path / "again", run) as writer:
        Campaign(run, writer, again, Silent(), Unchanged({}), cut).go()
    assert {step.key for step in again.steps} == {key for key in done if key[0] == 6}


def test_the_choice_of_repeats_is_stored_and_a_resumed_run_goes_on_with_it(tmp_path: Path) -> None:
    """Repeats of one process are nearly alike, processes differ by 5 %, and starting one is
    cheap."""

    @dataclass
    class Costly(InProcess):
        stop_at: int = 10**9

        def execute(self, step: Step, number: int, stop: StopSwitch, record: Sink) -> Process:
            if len(self.steps) == self.stop_at:
                raise KeyboardInterrupt
            self.steps.append(step)
            luck = 1 + 0.05 * (number * 7919 % 13)
            for repeat in range(step.repeats or 10):
                record(
                    Sample(
                        number,
                        step.experiment.id,
                        step.subject.name,
                        step.parameters,
                        step.round,
                        repeat,
                        repeat == 0,
                        {q.name: luck * (5 + 0.001 * repeat) for q in step.experiment.quantities},
                        SampleFacts(elapsed_ns=2e7),
                    )
                )
            return Process(
                number,
                step.experiment.id,
                step.subject.name,
                step.parameters,
                step.round,
                "ok",
                facts=ProcessFacts(wall_s=0.25),
            )

    run = planned(4)
    first = Costly(lambda step: False, stop_at=40 * len(run.experiments))
    with RunWriter.create(tmp_path, run) as writer, pytest.raises(KeyboardInterrupt):
        Campaign(run, writer, first, Silent(), Unchanged({})).go()
    interrupted = read_run(tmp_path, run.id)
    chosen = interrupted.run.plan.options.chosen_repeats
    assert chosen is not None
    assert set(chosen.values()) == {4}
    assert interrupted.run.plan.max_rounds > 4
    second = Costly(lambda step: False)
    with RunWriter.reopen(interrupted.path) as writer:
        Campaign(interrupted.run, writer, second, Silent(), Unchanged({}), interrupted).go()
    assert {step.repeats for step in second.steps} == {4}
    done = read_run(tmp_path, run.id)
    assert done.run.plan == interrupted.run.plan
    assert {step.round for step in second.steps} <= set(range(2, done.run.plan.max_rounds))
