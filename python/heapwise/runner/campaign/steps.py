"""The order of everything that is run: a function of the plan, so that a run can be resumed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from heapwise.model import (
    Experiment,
    Identity,
    Plan,
    Process,
    ProcessFacts,
    Sample,
    Setting,
    Settings,
    Setup,
    Status,
    Subject,
    SubjectSpec,
    control_name,
)
from heapwise.runner.campaign.repeats import LEARNING

REFERENCE_ROUND = -1

MOST_BESIDE = 15
"""Subjects that run at once beside a baseline. On a busy machine a large group gets more of a
processor than a small one, and pairs scatter as much (docs/design/statistics.md)."""

StepKey = tuple[int, Setup, str, bool]
"""Round, setup, subject, and whether it ran beside others: what a process has done need not be done
again."""


@dataclass(frozen=True)
class Step:
    """One process to be started."""

    experiment: Experiment
    subject: Subject
    parameters: dict[str, Setting]
    round: int
    warm_up: bool = False
    repeats: int | None = None
    """How many the process has; None for as many as the experiment declares."""

    beside: tuple[Subject, ...] = ()
    """Those that run at the same time; the baseline is one of them, or the subject itself."""

    slice_s: float = 0.0
    """For which one of them has the processor before the next; 0: as the kernel does."""

    runs: int = 1
    """How often each of those that run at the same time runs, one run after the other."""

    @property
    def spec(self) -> SubjectSpec | None:
        """What the experiment declares of the subject; a control is its baseline."""
        return self.experiment.spec(self.subject.name)

    @property
    def setup(self) -> Setup:
        return self.experiment.id, Settings.of(self.parameters)

    @property
    def key(self) -> StepKey:
        """A group has that of its first member: the baseline is in each group of a round."""
        subject = self.beside[0] if self.beside else self.subject
        return self.round, self.setup, subject.name, bool(self.beside)

    def process(
        self,
        number: int,
        started_at: str,
        status: Status,
        reason: str,
        facts: ProcessFacts | None = None,
        identity: Sequence[Identity] = (),
    ) -> Process:
        """What is stored of the process that this step has started."""
        return Process(
            number=number,
            experiment=self.experiment.id,
            subject=self.subject.name,
            parameters=self.parameters,
            round=self.round,
            status=status,
            reason=reason,
            warm_up=self.warm_up,
            facts=facts or ProcessFacts(),
            identity=list(identity),
            started_at=started_at,
        )

    def sample(self, number: int, values: Mapping[str, float]) -> Sample:
        """The only sample of a process that has one."""
        return Sample(
            process=number,
            experiment=self.experiment.id,
            subject=self.subject.name,
            parameters=self.parameters,
            round=self.round,
            repeat=0,
            warm_up=self.warm_up,
            values=dict(values),
        )


def key_of(process: Process) -> StepKey:
    return process.round, process.setup, process.subject, process.facts.beside is not None


def cells(experiment: Experiment, plan: Plan) -> list[dict[str, Setting]]:
    """The values of all parameters, crossed; [{}] for an experiment without any. Programs that
    cannot be measured here have none. Of a published report: those that it names."""
    if (chosen := plan.options.reproduction) is not None:
        named = chosen.cells.get(experiment.id, [])
        return [cell for cell in named if experiment.can_run(cell)]
    choices = []
    for parameter in experiment.parameters:
        usual = parameter.smoke if plan.smoke else parameter.default
        choices.append(plan.parameters.get(parameter.name, usual))
    names = [parameter.name for parameter in experiment.parameters]
    crossed = (dict(zip(names, values, strict=True)) for values in itertools.product(*choices))
    return [cell for cell in crossed if experiment.can_run(cell)]


def subjects_of(experiment: Experiment, plan: Plan) -> list[Subject]:
    """Those of the plan that this experiment has, its control (A/A) included."""
    names = {spec.name for spec in experiment.subjects}
    return [
        subject
        for subject in plan.subjects
        if subject.name in names or subject.name == control_name(experiment.baseline)
    ]


def control_of(baseline: Subject) -> Subject:
    """The same allocator under a second label: the A/A pair."""
    return replace(
        baseline,
        name=control_name(baseline.name),
        baseline=False,
        control=True,
        title=f"{baseline.title}, second label (A/A)",
    )


def steps_of_round(plan: Plan, experiments: list[Experiment], round: int) -> list[Step]:
    """Every cell of every experiment; within a cell the subjects are neighbours in random order.

    In the first round of ``compare``, if it is a warm-up, the baseline, its control and the first
    subject of each other build go first: what is wrong with the programs themselves is then known
    before time is spent on the others. A round that counts has no fixed order. In a comparison of
    one cell it begins with the subject that ended the round before it: so each subject follows each
    subject equally often, itself among them, and what a process leaves behind slows all alike.
    """
    examples, of_programs = set(plan.examples.values()), plan.traits.whole_programs
    chance = random.Random(f"{plan.seed}/round/{round}")
    blocks = [
        [
            Step(
                experiment,
                subject,
                cell,
                round,
                round < plan.warm_up_rounds,
                _repeats(plan, experiment, round),
            )
            for subject in subjects_of(experiment, plan)
        ]
        for experiment in experiments
        for cell in cells(experiment, plan)
    ]
    chance.shuffle(blocks)
    for block in blocks:
        chance.shuffle(block)
        if of_programs and len(blocks) == 1:
            names = order_of(plan.seed, round, sorted(step.subject.name for step in block))
            block.sort(key=lambda step: names.index(step.subject.name))
        if round == 0 and of_programs and plan.warm_up_rounds:
            block.sort(
                key=lambda step: (
                    not step.subject.baseline,
                    not step.subject.control,
                    step.subject.name not in examples,
                )
            )
    return [step for block in blocks for step in block]


def order_of(seed: int, round: int, names: Sequence[str]) -> list[str]:
    """The names in random order; the one that ended the round before is first."""
    drawn = _drawn(seed, round, names)
    if round > 0 and len(names) > 1:
        first = _last_of(seed, round - 1, names)
        drawn.remove(first)
        drawn.insert(0, first)
    return drawn


def _last_of(seed: int, round: int, names: Sequence[str]) -> str:
    """Looks back until a round ends as it was drawn, whatever ended the one before it."""
    *_, other, last = _drawn(seed, round, names)
    if round == 0 or last not in _drawn(seed, round - 1, names)[-2:]:
        return last
    return other if last == _last_of(seed, round - 1, names) else last


def _drawn(seed: int, round: int, names: Sequence[str]) -> list[str]:
    drawn = list(names)
    random.Random(f"{seed}/order/{round}").shuffle(drawn)
    return drawn


def steps_together(
    plan: Plan,
    experiments: list[Experiment],
    round: int,
    leaves_out: Callable[[tuple[Setup, str]], bool],
) -> list[Step]:
    """Groups of subjects that run at once, each beside a baseline of its own, in random order.

    leaves_out: whether a row needs no more of it. A round of which nothing but the control is left
    is empty.
    """
    most = plan.options.most_beside or MOST_BESIDE
    chance = random.Random(f"{plan.seed}/round/{round}")
    steps = []
    for experiment in experiments:
        for cell in cells(experiment, plan):
            row = subjects_of(experiment, plan)
            baseline = next(subject for subject in row if subject.name == experiment.baseline)
            setup = experiment.id, Settings.of(cell)
            others = [s for s in row if s is not baseline and not leaves_out((setup, s.name))]
            if all(subject.control for subject in others):
                continue
            chance.shuffle(others)
            number = -(-len(others) // most)
            steps += [
                Step(
                    experiment,
                    baseline,
                    cell,
                    round,
                    beside=tuple(others[place::number]),
                    slice_s=plan.options.slice_s,
                    runs=plan.options.runs_beside,
                )
                for place in range(number)
            ]
    chance.shuffle(steps)
    return steps


def reference_steps(plan: Plan, experiments: list[Experiment]) -> list[Step]:
    """The baseline of each whole program once, before a first round that counts: what it does is
    what all others have to do, and it may come last in that round. Of a comparison, the first
    subject of each build."""
    if plan.warm_up_rounds:
        return []
    examples = set(plan.examples.values())
    return [
        Step(experiment, subject, cell, REFERENCE_ROUND, warm_up=True)
        for experiment in experiments
        if plan.is_whole(experiment)
        for cell in cells(experiment, plan)
        for subject in subjects_of(experiment, plan)
        if subject.name == experiment.baseline or subject.name in examples
    ]


def _repeats(plan: Plan, experiment: Experiment, round: int) -> int | None:
    """Those asked for; after the first rounds those that were chosen from them."""
    asked = plan.options.repeats
    if asked is not None or round < LEARNING:
        return asked
    return (plan.options.chosen_repeats or {}).get(experiment.id)
