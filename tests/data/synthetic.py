"""SYNTHETIC runs for tests, drawn from a seeded generator. Nothing here was ever measured.

The host is called ``synthetic`` so that such a run can never be taken for a real one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec import structs

from heapwise.model import (
    Calls,
    Check,
    CitedFigure,
    Clock,
    Experiment,
    Identity,
    Library,
    Machine,
    MachineFacts,
    Parameter,
    Peer,
    Plan,
    Process,
    ProcessFacts,
    Quantity,
    Quiet,
    Run,
    Sample,
    SampleFacts,
    Start,
    Subject,
    SubjectSpec,
    WorkCheck,
)
from heapwise.store import StoredRun

MIB = 2**20

START = Start(
    compiler="gcc 12.2.0", flags="-O2", ndebug=True, clock=Clock(resolution_ns=1, overhead_ns=21.0)
)
"""What an experiment's process says of itself."""

RecordT = TypeVar("RecordT", Process, Sample)


def changed(record: RecordT, **facts: Any) -> RecordT:
    """With some of its facts replaced; None: it was not recorded."""
    return replace(record, facts=structs.replace(record.facts, **facts))


def machine() -> Machine:
    return Machine(
        host="synthetic",
        user="nobody",
        cpu="Synthetic CPU",
        cores=2,
        memory_bytes=8 * 2**30,
        caches={"L1d": 32768},
        kernel="Linux 6.1.0",
        distribution="Synthetic 12",
        libc="glibc 2.36",
        page_bytes=4096,
        facts=MachineFacts(
            settings={
                "thp": "madvise",
                "overcommit_memory": 0,
                "aslr": 2,
                "personality": "00000000",
            },
            quiet=Quiet(load=[0.1]),
        ),
        unavailable={"perf_counters": "perf_event_open is refused"},
    )


def peer(name: str) -> Peer:
    path = "" if name == "glibc" else f"/usr/lib/lib{name}.so.2"
    return Peer(
        name=name,
        title=name,
        kind="system" if name == "glibc" else "preload",
        path=path,
        version="1.0",
        build_id=f"id-{name}",
        get=f"apt install {name}",
        licence="MIT",
    )


def identity(name: str) -> list[Identity]:
    path = "/lib/libc.so.6" if name == "glibc" else f"/usr/lib/lib{name}.so.2"
    return [
        Identity(
            pid=1,
            exe="/usr/bin/toy",
            affinity=[0, 1],
            malloc=Library(path=path, build_id=f"id-{name}"),
        )
    ]


@dataclass
class Script:
    """What a synthetic compare run looks like; time and memory relative to the baseline."""

    time: dict[str, float] = field(
        default_factory=lambda: {
            "glibc": 1.0,
            "glibc-control": 1.0,
            "mimalloc": 0.9,
            "jemalloc": 0.95,
            "scudo": 1.3,
        }
    )
    memory: dict[str, float] = field(
        default_factory=lambda: {
            "glibc": 1.0,
            "glibc-control": 1.0,
            "mimalloc": 1.07,
            "jemalloc": 0.85,
            "scudo": 1.2,
        }
    )
    rounds: int = 14
    noise: float = 0.004
    seed: int = 1
    shuffle: bool = True
    edit: Callable[[Process], Process] = lambda process: process
    bend: Callable[[str, int, float], float] = lambda subject, round_, value: value


def compare_run(script: Script | None = None) -> StoredRun:
    script = script or Script()
    random = np.random.default_rng(script.seed)
    names = list(script.time)
    processes: list[Process] = [_counting()]
    samples: list[Sample] = []
    for round_ in range(-1, script.rounds):
        order = list(random.permutation(names)) if script.shuffle else names
        drift = float(random.lognormal(0, 0.02))
        for name in order:
            number = len(processes)
            time = 2.4 * script.time[name] * drift * float(random.lognormal(0, script.noise))
            time = script.bend(name, round_, time)
            peak = float(round(812 * script.memory[name] * float(random.lognormal(0, 0.001)))) * MIB
            process = script.edit(
                _compare_process(number, str(name), max(round_, 0), time, peak, warm_up=round_ < 0)
            )
            processes.append(process)
            if process.status == "ok":
                samples.append(
                    Sample(
                        process=number,
                        experiment="compare",
                        subject=str(name),
                        parameters={},
                        round=process.round,
                        repeat=0,
                        warm_up=process.warm_up,
                        values={
                            "wall_time": time,
                            "cpu_time": time * 0.98,
                            "peak_memory": peak,
                            "minor_faults": round(peak / 4096),
                            "major_faults": 0.0,
                        },
                    )
                )
    return StoredRun(Path("synthetic"), _compare_plan(script, names), processes, samples)


def _counting() -> Process:
    return Process(
        number=0,
        experiment="compare",
        subject="glibc",
        parameters={},
        round=-1,
        status="ok",
        warm_up=True,
        facts=ProcessFacts(
            counting=True,
            calls=Calls(malloc=20_000_000, free=20_000_000),
            bytes_requested=2_000_000_000,
            counted_wall_s=3.0,
            startup_s=0.002,
        ),
    )


def _compare_process(
    number: int, name: str, round_: int, time: float, peak: float, *, warm_up: bool
) -> Process:
    return Process(
        number=number,
        experiment="compare",
        subject=name,
        parameters={},
        round=round_,
        status="ok",
        warm_up=warm_up,
        identity=identity(name.removesuffix("-control")),
        facts=ProcessFacts(
            wall_s=time,
            user_s=time * 0.95,
            system_s=time * 0.03,
            peak_rss_bytes=int(peak),
            exit_code=0,
            output_hash="xxh3:1",
            written_elsewhere_bytes=0,
            steal_ticks=0,
            psi_cpu_us=100,
            involuntary_switches=3,
            affinity=[0, 1],
            spin_before_ns=1_000_000,
            spin_after_ns=1_001_000,
            launcher_rss_bytes=3 * MIB,
        ),
    )


def _compare_plan(script: Script, names: Sequence[str]) -> Run:
    subjects = [
        Subject(
            name=n,
            title=n,
            peer=peer(n.removesuffix("-control")),
            baseline=n == "glibc",
            control=n.endswith("-control"),
        )
        for n in names
    ]
    quantities = [
        Quantity("wall_time", "s", "lower"),
        Quantity("cpu_time", "s", "lower"),
        Quantity("peak_memory", "bytes", "lower"),
        Quantity("minor_faults", "count", "lower"),
        Quantity("major_faults", "count", "lower"),
    ]
    experiment = Experiment(
        schema=1,
        id="compare",
        family="compare",
        question="Which allocator suits it?",
        isolates="the allocator",
        not_shown="other inputs",
        parameters=[],
        quantities=quantities,
        subjects=[SubjectSpec(n, "malloc", n) for n in names],
        baseline="glibc",
        repeats=1,
        dropped_repeats=0,
    )
    return _run(
        Plan(
            kind="compare",
            command=["/usr/bin/toy", "--size", "<big> & 'odd'"],
            experiments=["compare"],
            parameters={},
            subjects=subjects,
            seed=script.seed,
            min_rounds=8,
            max_rounds=99,
            time_s=60,
            precision=0.01,
            warm_up_rounds=1,
            timeout_s=60,
            environment={"PATH": "/usr/bin", "LANG": "C"},
            working_directory="/home/nobody/project",
        ),
        [experiment],
        [Check("V2", "The program's malloc can be replaced", "pass", "dynamic ELF")],
    )


POOL = {
    "unsynchronized": 1.0,
    "mutex": 9.0,
    "lock_free": 5.0,
    "thread_cached": 1.6,
    "boost_pool": 1.4,
    "malloc@glibc": 6.4,
    "malloc@mimalloc": 4.6,
}
"""Mean time of an operation in ns, made up."""


def pool_run(
    rounds: int = 1, *, repeats: int = 10, threads: Sequence[int] = (), seed: int = 2
) -> StoredRun:
    """Two experiments: pool/bulk (two quantities) and, with threads, pool/concurrent."""
    random = np.random.default_rng(seed)
    experiments = [_pool_experiment("pool/bulk", ["alloc_fresh", "free"], [])]
    if threads:
        experiments.append(_pool_experiment("pool/concurrent", ["alloc_free"], list(threads)))
    processes: list[Process] = []
    samples: list[Sample] = []
    for round_ in range(rounds):
        for experiment in experiments:
            cells = [{"block_size": 64, "threads": t} for t in threads] or [{"block_size": 64}]
            for cell in cells if "concurrent" in experiment.id else [{"block_size": 64}]:
                for name in random.permutation(list(POOL)):
                    number = len(processes)
                    processes.append(_pool_process(number, experiment.id, str(name), cell, round_))
                    for repeat in range(repeats):
                        factor = cell.get("threads", 1) ** (0 if "cached" in str(name) else 0.5)
                        samples.append(
                            _pool_sample(
                                random,
                                number,
                                experiment,
                                str(name),
                                cell,
                                round_,
                                repeat,
                                POOL[str(name)] * factor,
                            )
                        )
    plan = Plan(
        kind="run",
        command=[],
        experiments=[e.id for e in experiments],
        parameters={},
        subjects=[
            Subject(
                n, n, peer(n[7:]) if n.startswith("malloc@") else None, baseline=n == "malloc@glibc"
            )
            for n in POOL
        ],
        seed=seed,
        min_rounds=1,
        max_rounds=rounds,
        time_s=60,
        precision=0.01,
        warm_up_rounds=0,
        timeout_s=60,
        environment={"PATH": "/usr/bin"},
    )
    return StoredRun(Path("synthetic"), _run(plan, experiments, []), processes, samples)


def _pool_experiment(id: str, quantities: list[str], threads: list[int]) -> Experiment:
    parameters = [Parameter("block_size", "size of a block", [64], [64], "bytes")]
    if threads:
        parameters.append(Parameter("threads", "threads at once", list(threads), [1]))
    return Experiment(
        schema=1,
        id=id,
        family="pool",
        question="What does a block cost?",
        isolates="the pool",
        not_shown="cache misses of the user",
        parameters=parameters,
        quantities=[Quantity(q, "ns/op", "lower") for q in quantities],
        subjects=[SubjectSpec(n, "malloc" if "@" in n else "inline", n) for n in POOL],
        baseline="malloc@glibc",
        repeats=10,
        dropped_repeats=1,
        published=[
            CitedFigure(
                "unsynchronized",
                quantities[0],
                {"block_size": 64},
                6.857,
                "an i5",
                "Pool against malloc",
            ),
            CitedFigure(
                "malloc@glibc",
                quantities[0],
                {"block_size": 64},
                75.529,
                "an i5",
                "Pool against malloc",
            ),
            CitedFigure(
                "unsynchronized",
                quantities[0],
                {"block_size": 64},
                11.8,
                "an i5",
                "Policies of a pool",
            ),
            CitedFigure(
                "malloc@glibc",
                quantities[0],
                {"block_size": 64},
                71.0,
                "an i5",
                "Policies of a pool",
            ),
        ],
    )


def _pool_process(
    number: int, experiment: str, name: str, cell: dict[str, Any], round_: int
) -> Process:
    return Process(
        number=number,
        experiment=experiment,
        subject=name,
        parameters=cell,
        round=round_,
        status="ok",
        identity=identity(name[7:]) if name.startswith("malloc@") else [],
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


def _pool_sample(
    random: np.random.Generator,
    number: int,
    experiment: Experiment,
    name: str,
    cell: dict[str, Any],
    round_: int,
    repeat: int,
    mean: float,
) -> Sample:
    values = {
        q.name: mean * (1 + place / 4) * float(random.lognormal(0, 0.02))
        for place, q in enumerate(experiment.quantities)
    }
    return Sample(
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
            breadth_before_ns=40_000,
            breadth_after_ns=40_100,
            cpus=[0],
        ),
    )


def _run(plan: Plan, experiments: list[Experiment], preflight: list[Check]) -> Run:
    return Run(
        schema=1,
        id="5a11",
        version="0.1.0",
        created="2026-01-02T03:04:05Z",
        command_line=["heapwise", plan.kind, "--", *plan.command],
        plan=plan,
        machine=machine(),
        experiments=experiments,
        state="complete",
        preflight=preflight,
        machine_after=machine(),
        finished="2026-01-02T03:09:05Z",
        missing_peers=[replace(peer("snmalloc"), path=None)],
    )
