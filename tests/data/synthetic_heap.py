"""SYNTHETIC runs of the heap family, drawn from a seeded generator. Nothing here was ever measured.

Speeds and sizes are planted, so that figures, goals and headlines have a known answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from synthetic import START, identity, machine, peer

from heapwise.model import (
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

MIB = 2**20
BASE = "malloc@glibc"

SPEED = {
    BASE: 1.0,
    "malloc@jemalloc": 1.3,
    "malloc@mimalloc": 1.6,
    "malloc@tcmalloc": 1.5,
    "malloc@heapwise": 1.9,
}
"""Throughput relative to glibc, made up."""

LEAN = {
    BASE: 1.0,
    "malloc@jemalloc": 0.9,
    "malloc@mimalloc": 1.2,
    "malloc@tcmalloc": 1.1,
    "malloc@heapwise": 0.85,
}
"""Peak resident memory relative to glibc, made up."""

MIX = [
    Quantity("throughput", "Mops/s", "higher", "calls in a microsecond"),
    Quantity("alloc_p50", "ns", "lower"),
    Quantity("alloc_p99", "ns", "lower"),
    Quantity("free_p50", "ns", "lower"),
    Quantity("free_p99", "ns", "lower"),
    Quantity("overhead_ratio", "x", "lower", "usable over requested"),
    Quantity("peak_live", "bytes", "lower", "most bytes alive at once"),
    Quantity("resident_over_live", "x", "lower"),
    Quantity("peak_resident", "bytes", "lower"),
]
WORKLOADS = ("rl_small", "rl_medium", "fragmentation_mix", "alignment64")


@dataclass
class Heap:
    """What a synthetic run of the heap family looks like.

    bend: (experiment, subject, parameters, quantity, value) -> value, applied before the noise.
    """

    speed: dict[str, float] = field(default_factory=lambda: dict(SPEED))
    lean: dict[str, float] = field(default_factory=lambda: dict(LEAN))
    threads: Sequence[int] = (1, 2, 16)
    rounds: int = 8
    noise: float = 0.004
    seed: int = 3
    extra: list[Experiment] = field(default_factory=list)
    bend: Callable[[str, str, dict[str, Any], str, float], float] = (
        lambda experiment, subject, parameters, quantity, value: value
    )
    lost: Callable[[str, str, dict[str, Any]], bool] = lambda experiment, subject, parameters: False


def experiment_of(
    id: str, quantities: list[Quantity], subjects: Sequence[str], threads: Sequence[int] = ()
) -> Experiment:
    parameters = [Parameter("threads", "threads at once", list(threads), [1])] if threads else []
    return Experiment(
        schema=1,
        id=id,
        family="heap",
        question=f"What does {id} cost?",
        isolates="malloc and free",
        not_shown="the user's own work",
        parameters=parameters,
        quantities=quantities,
        subjects=[
            SubjectSpec(name, "malloc" if "@" in name else "inline", name) for name in subjects
        ],
        baseline=BASE,
        repeats=1,
        dropped_repeats=0,
    )


def heap_run(script: Heap | None = None) -> StoredRun:
    """Four workloads over threads, and what ``extra`` adds; a cell that is lost timed out."""
    script = script or Heap()
    names = list(script.speed)
    experiments = [experiment_of(f"heap/{w}", MIX, names, script.threads) for w in WORKLOADS]
    experiments += script.extra
    random = np.random.default_rng(script.seed)
    processes: list[Process] = []
    samples: list[Sample] = []
    for round_ in range(script.rounds):
        for experiment in experiments:
            inside = [s.name for s in experiment.subjects]
            subjects = [*inside, *([f"{BASE}-control"] if BASE in inside else [])]
            for cell in _cells(experiment):
                for name in random.permutation(subjects):
                    _process(
                        script, random, experiment, str(name), cell, round_, processes, samples
                    )
    return StoredRun(Path("synthetic"), _run(script, experiments, names), processes, samples)


def _cells(experiment: Experiment) -> list[dict[str, Any]]:
    return [{p.name: value} for p in experiment.parameters for value in p.default] or [{}]


def _process(
    script: Heap,
    random: np.random.Generator,
    experiment: Experiment,
    name: str,
    cell: dict[str, Any],
    round_: int,
    processes: list[Process],
    samples: list[Sample],
) -> None:
    number, inner = len(processes), name.removesuffix("-control")
    lost = script.lost(experiment.id, inner, cell)
    processes.append(
        Process(
            number=number,
            experiment=experiment.id,
            subject=name,
            parameters=cell,
            round=round_,
            status="timed_out" if lost else "ok",
            reason="no end after 900 s" if lost else "",
            identity=identity(inner[7:]) if "@" in inner else [],
            facts=ProcessFacts(
                wall_s=0.2,
                exit_code=0,
                affinity=[0, 1],
                steal_ticks=0,
                peak_rss_bytes=70 * MIB,
                launcher_rss_bytes=3 * MIB,
                start=START,
                checks=[WorkCheck("work", True, "all blocks distinct")],
            ),
        )
    )
    if lost:
        return
    values = {
        q.name: script.bend(
            experiment.id,
            inner,
            cell,
            q.name,
            planted(script, q.name, inner, cell.get("threads", 1)),
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
            repeat=0,
            warm_up=False,
            values=values,
            facts=SampleFacts(
                elapsed_ns=200_000_000,
                operations=5_000_000,
                spin_before_ns=1_000_000,
                spin_after_ns=1_000_500,
                cpus=[0],
            ),
        )
    )


def planted(script: Heap, quantity: str, subject: str, threads: int) -> float:
    """The true value; glibc's speed with many threads stays at that of two."""
    speed, lean = script.speed.get(subject, 1.0), script.lean.get(subject, 1.0)
    found = {
        "throughput": 13.0 * speed * min(threads, 2) ** 0.9,
        "overhead_ratio": 1.05,
        "peak_live": 1.3 * MIB,
        "resident_over_live": 2.0 * lean,
        "peak_resident": 6 * MIB * lean,
    }
    return found.get(quantity, (90.0 if "p99" in quantity else 30.0) / speed)


def _run(script: Heap, experiments: list[Experiment], names: list[str]) -> Run:
    every = list(dict.fromkeys([*names, *(s.name for e in experiments for s in e.subjects)]))
    subjects = [
        Subject(n, n, peer(n.partition("@")[2]) if "@" in n else None, baseline=n == BASE)
        for n in every
    ]
    if BASE in every:
        base = next(s for s in subjects if s.baseline)
        subjects.append(replace(base, name=f"{BASE}-control", baseline=False, control=True))
    plan = Plan(
        kind="run",
        command=[],
        experiments=[e.id for e in experiments],
        parameters={},
        subjects=subjects,
        seed=script.seed,
        min_rounds=script.rounds,
        max_rounds=script.rounds,
        time_s=0,
        precision=0.0,
        warm_up_rounds=0,
        timeout_s=900,
        environment={"PATH": "/usr/bin"},
    )
    return Run(
        schema=1,
        id="4ea9",
        version="0.1.0",
        created="2026-01-02T03:04:05Z",
        command_line=["heapwise", "run", "heap"],
        plan=plan,
        machine=machine(),
        experiments=experiments,
        state="complete",
        machine_after=machine(),
        finished="2026-01-02T03:09:05Z",
        missing_peers=[replace(peer("snmalloc"), path=None)],
    )
