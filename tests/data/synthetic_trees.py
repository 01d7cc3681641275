"""SYNTHETIC runs of the trees, drawn from a seeded generator. Nothing here was ever measured.

Rows of every kind with planted times and peaks, so that tables, goals and figures have a known
answer; one row fails, and one is not on the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from synthetic import identity, machine, peer

from heapwise.model import (
    CitedFigure,
    Experiment,
    Parameter,
    Plan,
    Process,
    ProcessFacts,
    Quantity,
    Run,
    Sample,
    Subject,
    SubjectSpec,
)
from heapwise.store import StoredRun

MIB = 2**20
BASE = "malloc@glibc"

KINDS = {
    BASE: "explicit",
    "malloc@jemalloc": "explicit",
    "malloc@mimalloc": "explicit",
    "malloc@heapwise": "explicit",
    "dlmalloc": "explicit",
    "shared_ptr": "counting",
    "shared_ptr_const_ref": "counting",
    "ocaml": "collector",
    "boehm_1": "collector",
    "boehm_4": "collector",
    "tiny_gc": "collector",
    "java_g1": "collector",
    "pool": "region",
    "arena": "region",
}
TIMES = {
    BASE: 6.0,
    "malloc@jemalloc": 5.0,
    "malloc@mimalloc": 2.5,
    "malloc@heapwise": 2.0,
    "dlmalloc": 3.0,
    "shared_ptr": 8.0,
    "shared_ptr_const_ref": 7.0,
    "ocaml": 2.6,
    "boehm_1": 6.2,
    "boehm_4": 5.8,
    "tiny_gc": 3.1,
    "java_g1": 3.2,
    "pool": 1.5,
    "arena": 0.9,
}
"""Seconds, made up."""

PEAKS = {
    BASE: 130.0,
    "malloc@jemalloc": 140.0,
    "malloc@mimalloc": 140.0,
    "malloc@heapwise": 130.0,
    "dlmalloc": 132.0,
    "shared_ptr": 400.0,
    "shared_ptr_const_ref": 400.0,
    "ocaml": 390.0,
    "boehm_1": 200.0,
    "boehm_4": 205.0,
    "tiny_gc": 190.0,
    "java_g1": 1700.0,
    "pool": 128.0,
    "arena": 128.0,
}
"""MiB, made up."""

QUANTITIES = [
    Quantity("wall", "s", "lower"),
    Quantity("user", "s", "lower"),
    Quantity("system", "s", "lower"),
    Quantity("peak_resident", "bytes", "lower"),
    Quantity("collections", "count", "lower"),
    Quantity("longest_pause", "s", "lower"),
]


@dataclass
class Trees:
    """What a synthetic run of the trees looks like. ``lost``: subject to its status."""

    depth: int = 21
    times: dict[str, float] = field(default_factory=lambda: dict(TIMES))
    peaks: dict[str, float] = field(default_factory=lambda: dict(PEAKS))
    lost: dict[str, tuple[str, str]] = field(default_factory=dict)
    missing: Sequence[str] = ("dart",)
    rounds: int = 8
    noise: float = 0.004
    seed: int = 5
    budget: bool = False


def trees_run(shape: Trees | None = None) -> StoredRun:
    shape = shape or Trees()
    random = np.random.default_rng(shape.seed)
    experiments = [_rows(shape), *([_budget(shape)] if shape.budget else [])]
    processes: list[Process] = []
    samples: list[Sample] = []
    for round_ in range(shape.rounds):
        for experiment in experiments:
            names = [spec.name for spec in experiment.subjects if spec.available]
            for name in random.permutation([*names, f"{BASE}-control"]):
                _measure(shape, experiment, str(name), round_, random, processes, samples)
    return StoredRun(Path("synthetic"), _run(experiments), processes, samples)


def _measure(
    shape: Trees,
    experiment: Experiment,
    name: str,
    round_: int,
    random: Any,
    processes: list[Process],
    samples: list[Sample],
) -> None:
    plain = name.removesuffix("-control")
    status, reason = shape.lost.get(name, ("ok", ""))
    time, peak = _planted(shape, plain)
    time *= float(random.lognormal(0, shape.noise))
    number, parameters = len(processes), {"depth": shape.depth}
    processes.append(
        Process(
            number=number,
            experiment=experiment.id,
            subject=name,
            parameters=parameters,
            round=round_,
            status=status,
            reason=reason,  # type: ignore[arg-type]
            identity=identity(plain.partition("@")[2]) if "@" in plain else [],
            facts=ProcessFacts(
                wall_s=time,
                exit_code=0,
                output_hash="xxh3:1",
                steal_ticks=0,
                spin_before_ns=1_000_000,
                spin_after_ns=1_001_000,
                affinity=[0, 1],
                launcher_rss_bytes=3 * MIB,
                psi_cpu_us=100,
                involuntary_switches=3,
            ),
        )
    )
    if status != "ok":
        return
    values = {
        "wall": time,
        "user": time * 0.97,
        "system": time * 0.02,
        "peak_resident": float(round(peak * MIB * float(random.lognormal(0, 0.001)))),
    }
    if KINDS.get(plain.partition("/")[0]) == "collector":
        values |= {"collections": 12.0, "longest_pause": 0.02}
    samples.append(
        Sample(
            process=number,
            experiment=experiment.id,
            subject=name,
            parameters=parameters,
            round=round_,
            repeat=0,
            warm_up=False,
            values=values,
        )
    )


def _planted(shape: Trees, name: str) -> tuple[float, float]:
    """A point of a curve: the more memory, the less time."""
    row, _, label = name.partition("/")
    factor = float(label or 1)
    return shape.times[row] / factor**0.5, shape.peaks[row] * factor


def _spec(name: str) -> SubjectSpec:
    row = name.partition("/")[0]
    return SubjectSpec(
        name,
        "malloc" if "@" in name else "program",
        f"the {name} row",
        command=["tree", "{depth}"],
        group=KINDS[row],
        version="1.2.3",
        build=f"cc -O2 {name}.c",
        note="made up",
    )


def _rows(shape: Trees) -> Experiment:
    missing = [
        SubjectSpec(
            name,
            "program",
            name,
            available=False,
            command=["tree"],
            reason=f"apt-get install {name}",
            group="collector",
        )
        for name in shape.missing
    ]
    return _experiment(
        "binary_trees",
        shape,
        [*map(_spec, shape.times), *missing],
        [
            CitedFigure(subject, quantity, {"depth": 21}, value, machine, "Binary trees")
            for machine, factor in (("an M1", 1.0), ("an i7", 2.0))
            for subject, seconds in (("ocaml", 2.09), ("dart", 4.71))
            for quantity, value in (
                ("wall", seconds * factor),
                ("user", seconds * factor - 0.03),
                ("system", 0.02),
            )
        ],
    )


def _budget(shape: Trees) -> Experiment:
    names = [
        BASE,
        "malloc@heapwise",
        *(f"{row}/{label}" for row in ("ocaml", "tiny_gc") for label in ("0.5", "1", "2")),
    ]
    return _experiment("budget", shape, list(map(_spec, names)), [])


def _experiment(
    name: str, shape: Trees, subjects: list[SubjectSpec], figures: list[CitedFigure]
) -> Experiment:
    return Experiment(
        schema=1,
        id=f"trees/{name}",
        family="trees",
        question=f"What does {name} cost?",
        isolates="memory",
        not_shown="other programs",
        parameters=[Parameter("depth", "of the trees", [21], [10])],
        quantities=QUANTITIES,
        subjects=subjects,
        baseline=BASE,
        repeats=1,
        dropped_repeats=0,
        published=figures,
    )


def _run(experiments: list[Experiment]) -> Run:
    names = dict.fromkeys(s.name for e in experiments for s in e.subjects if s.available)
    subjects = [
        Subject(
            name, name, peer(name.partition("@")[2]) if "@" in name else None, baseline=name == BASE
        )
        for name in names
    ]
    subjects.append(Subject(f"{BASE}-control", "again", peer("glibc"), control=True))
    plan = Plan(
        kind="run",
        command=[],
        experiments=[e.id for e in experiments],
        parameters={},
        subjects=subjects,
        seed=1,
        min_rounds=8,
        max_rounds=8,
        time_s=0.0,
        precision=0.0,
        warm_up_rounds=0,
        timeout_s=0.0,
    )
    return Run(
        schema=1,
        id="7ree",
        version="0.1.0",
        created="2026-01-01T00:00:00+00:00",
        command_line=["heapwise", "run", "trees/*"],
        plan=plan,
        machine=machine(),
        experiments=experiments,
        state="complete",
        machine_after=machine(),
        finished="2026-01-01T01:00:00+00:00",
    )
