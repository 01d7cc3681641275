"""SYNTHETIC runs of two small experiments with planted answers. Nothing here was ever measured.

``layout/aos_vs_soa``: ``soa`` is 1.42 times as fast as ``aos`` with two fields and equal with all.
``cache/levels``: a load takes 1 ns up to 32 KiB and 80 ns in 64 MiB.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs
from synthetic import START, machine

from heapwise.model import (
    CitedFigure,
    Expectation,
    Experiment,
    Parameter,
    Plan,
    Process,
    ProcessFacts,
    Quantity,
    Run,
    Sample,
    SampleFacts,
    Subject,
    SubjectSpec,
    WorkCheck,
)
from heapwise.store import StoredRun

FASTER = 1.42

LAYOUT = Experiment(
    schema=1,
    id="layout/aos_vs_soa",
    family="layout",
    question="Does an array for each field beat an array of structures?",
    isolates="How much of a cache line a loop uses.",
    not_shown="Loops that write.",
    parameters=[Parameter("fields", "that are read", ["all", "two"], ["all", "two"])],
    quantities=[Quantity("throughput", "M/s", "higher", "elements")],
    subjects=[
        SubjectSpec("aos", "inline", "array of structures"),
        SubjectSpec("soa", "inline", "structure of arrays"),
        SubjectSpec("aosoa", "inline", "tiles", available=True),
    ],
    baseline="aos",
    repeats=6,
    dropped_repeats=1,
    published=[
        CitedFigure(
            "soa",
            "throughput",
            {"fields": "two"},
            1234.5,
            "Apple Silicon, 8 cores",
            "Small experiments",
        )
    ],
    expectations=[
        Expectation(
            "two of many fields gain by their own arrays",
            "throughput",
            "soa",
            "aos",
            {"fields": "two"},
            {},
            1.2,
        ),
        Expectation("nothing is gained twice", "throughput", "soa", "aos", {}, {}, 2.0),
        Expectation(
            "all fields are level",
            "throughput",
            "soa",
            "aos",
            {"fields": "all"},
            {},
            0.9999,
            1.0001,
        ),
        Expectation("tiles are as good", "throughput", "aosoa", "soa", {}, {}, 0.9),
    ],
)

LEVELS = Experiment(
    schema=1,
    id="cache/levels",
    family="cache",
    question="What does a load cost at each level?",
    isolates="Latency by the size of what is visited.",
    not_shown="Loads that overlap.",
    parameters=[Parameter("kib", "visited", [32, 65536], [32], "KiB")],
    quantities=[
        Quantity("latency", "ns", "lower", "of one load"),
        Quantity("stray", "per million", "lower", "loads that read a wrong value"),
    ],
    subjects=[SubjectSpec("chase", "inline", "pointer chase")],
    baseline="chase",
    repeats=6,
    dropped_repeats=1,
    expectations=[
        Expectation(
            "memory costs ten times the nearest cache",
            "latency",
            "chase",
            "chase",
            {"kib": 65536},
            {"kib": 32},
            10.0,
        ),
        Expectation(
            "the nearest cache answers within 2 ns",
            "latency",
            "chase",
            "",
            {"kib": 32},
            {},
            0.1,
            2.0,
        ),
        Expectation("no load goes astray", "stray", "chase", at_most=0.0),
        Expectation("a stack of caches beyond", "latency", "chase", "", {"kib": 1048576}, {}, 1.0),
    ],
)


@dataclass
class Shelf:
    """What the run looks like. bend: (experiment, subject, parameters, quantity, value)."""

    rounds: int = 8
    noise: float = 0.004
    seed: int = 5
    smoke: bool = False
    refused: tuple[str, ...] = ("aosoa",)
    plant: dict[str, float] = field(default_factory=dict)
    rename: dict[str, str] = field(default_factory=dict)
    bend: Callable[[str, str, dict[str, Any], str, float], float] = (
        lambda experiment, subject, parameters, quantity, value: value
    )


def shelf_run(script: Shelf | None = None) -> StoredRun:
    script = script or Shelf()
    random = np.random.default_rng(script.seed)
    processes: list[Process] = []
    samples: list[Sample] = []
    for round_ in range(script.rounds):
        for experiment in _experiments(script):
            names = [s.name for s in experiment.subjects] + [f"{experiment.baseline}-control"]
            for cell in _cells(experiment):
                for name in random.permutation(names):
                    _process(
                        script, random, experiment, str(name), cell, round_, processes, samples
                    )
    return StoredRun(Path("synthetic"), _run(script), processes, samples)


def _experiments(script: Shelf) -> list[Experiment]:
    return [
        replace(
            e, subjects=[replace(s, name=script.rename.get(s.name, s.name)) for s in e.subjects]
        )
        for e in (LAYOUT, LEVELS)
    ]


def _cells(experiment: Experiment) -> list[dict[str, Any]]:
    (parameter,) = experiment.parameters
    return [{parameter.name: value} for value in parameter.default]


def _process(
    script: Shelf,
    random: np.random.Generator,
    experiment: Experiment,
    name: str,
    cell: dict[str, Any],
    round_: int,
    processes: list[Process],
    samples: list[Sample],
) -> None:
    number, inner = len(processes), name.removesuffix("-control")
    refused = inner in script.refused
    facts = ProcessFacts(
        wall_s=0.2,
        exit_code=0,
        affinity=[0, 1],
        steal_ticks=0,
        start=structs.replace(START, plant_ns=script.plant.get(inner)),
        checks=[WorkCheck("work", True, "the sum is that of the reference")],
    )
    processes.append(
        Process(
            number=number,
            experiment=experiment.id,
            subject=name,
            parameters=cell,
            round=round_,
            status="refused" if refused else "ok",
            reason="tiles: no vector unit" if refused else "",
            facts=facts,
        )
    )
    if refused:
        return
    for repeat in range(experiment.repeats):
        values = {
            q.name: script.bend(
                experiment.id, inner, cell, q.name, _true(experiment.id, inner, cell, q.name)
            )
            * float(random.lognormal(0, script.noise))
            for q in experiment.quantities
        }
        samples.append(
            Sample(
                process=number,
                experiment=experiment.id,
                subject=name,
                parameters=cell,
                round=round_,
                repeat=repeat,
                warm_up=repeat == 0,
                values=values,
                facts=SampleFacts(
                    elapsed_ns=7_000_000,
                    spin_before_ns=1_000_000,
                    spin_after_ns=1_000_500,
                    cpus=[0],
                ),
            )
        )


def _true(experiment: str, subject: str, cell: dict[str, Any], quantity: str) -> float:
    if experiment == "cache/levels":
        return 0.0 if quantity == "stray" else (1.0 if cell["kib"] == 32 else 80.0)
    return 500.0 * (FASTER if subject == "soa" and cell["fields"] == "two" else 1.0)


def _run(script: Shelf) -> Run:
    experiments = _experiments(script)
    subjects = [
        Subject(s.name, s.title, baseline=s.name == e.baseline)
        for e in experiments
        for s in e.subjects
    ]
    subjects += [
        Subject(f"{e.baseline}-control", "second label", control=True) for e in (LAYOUT, LEVELS)
    ]
    plan = Plan(
        kind="run",
        command=[],
        experiments=[LAYOUT.id, LEVELS.id],
        parameters={},
        subjects=subjects,
        seed=script.seed,
        min_rounds=script.rounds,
        max_rounds=script.rounds,
        time_s=60,
        precision=0.01,
        warm_up_rounds=0,
        timeout_s=60,
        smoke=script.smoke,
        environment={"PATH": "/usr/bin"},
    )
    return Run(
        schema=1,
        id="5e1f",
        version="0.1.0",
        created="2026-01-02T03:04:05Z",
        command_line=["heapwise", "run", "layout", "cache"],
        plan=plan,
        machine=machine(),
        experiments=experiments,
        state="complete",
        machine_after=machine(),
        finished="2026-01-02T03:09:05Z",
    )
