"""The order of everything that is run: a function of the plan, so that a run can be resumed."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from heapwise.model import Experiment, Plan, Process, Subject, SubjectSpec

Cell = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One process to be started."""

    experiment: Experiment
    subject: Subject
    parameters: Cell
    round: int
    warm_up: bool = False

    @property
    def spec(self) -> SubjectSpec | None:
        """What the experiment declares of the subject; a control is its baseline."""
        return self.experiment.spec(self.subject.name)

    @property
    def key(self) -> str:
        return step_key(self.experiment.id, self.subject.name, self.parameters, self.round)


def step_key(experiment: str, subject: str, parameters: Cell, round: int) -> str:
    cell = msgspec.json.encode(parameters, order="sorted").decode()
    return f"{round} {experiment} {subject} {cell}"


def key_of(process: Process) -> str:
    return step_key(process.experiment, process.subject, process.parameters, process.round)


def cells(experiment: Experiment, plan: Plan) -> list[Cell]:
    """The values of all parameters, crossed; [{}] for an experiment without any."""
    choices = []
    for parameter in experiment.parameters:
        usual = parameter.smoke if plan.smoke else parameter.default
        choices.append(plan.parameters.get(parameter.name, usual))
    names = [parameter.name for parameter in experiment.parameters]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*choices)]


def subjects_of(experiment: Experiment, plan: Plan) -> list[Subject]:
    """Those of the plan that this experiment has, its control (A/A) included."""
    names = {spec.name for spec in experiment.subjects}
    return [
        subject for subject in plan.subjects
        if subject.name in names or subject.name == control_name(experiment.baseline)
    ]


def inner_name(subject: Subject) -> str:
    """What the binary calls it: ``malloc@jemalloc`` and controls are our names for it."""
    name = subject.name.removesuffix("-control") if subject.control else subject.name
    return name.partition("@")[0]


def control_name(baseline: str) -> str:
    return f"{baseline}-control"


def control_of(baseline: Subject) -> Subject:
    """The same allocator under a second label: the A/A pair."""
    return replace(baseline, name=control_name(baseline.name), baseline=False, control=True,
                   title=f"{baseline.title}, second label (A/A)")


def steps_of_round(plan: Plan, experiments: list[Experiment], round: int) -> list[Step]:
    """Every cell of every experiment; within a cell the subjects are neighbours in random order.

    In the very first round the baseline and its control go first: what is wrong with the program
    itself is then known before time is spent on the others.
    """
    chance = random.Random(f"{plan.seed}/round/{round}")
    blocks = [
        [Step(experiment, subject, cell, round, round < plan.warm_up_rounds)
         for subject in subjects_of(experiment, plan)]
        for experiment in experiments for cell in cells(experiment, plan)
    ]
    chance.shuffle(blocks)
    for block in blocks:
        chance.shuffle(block)
        if round == 0 and plan.kind == "compare":
            block.sort(key=lambda step: (not step.subject.baseline, not step.subject.control))
    return [step for block in blocks for step in block]
