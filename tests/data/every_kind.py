"""SYNTHETIC runs: one of each kind of study, always the same. Nothing here was ever measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from msgspec import structs
from planted import with_facts, with_plan
from synthetic import START, Script, compare_run, identity, pool_run
from synthetic_heap import SPEED, Heap, experiment_of, heap_run
from synthetic_shelf import shelf_run
from synthetic_trees import Trees, trees_run

from heapwise.model import (
    Experiment,
    GateOptions,
    LoadFacts,
    Parameter,
    Peer,
    PoolCandidate,
    Process,
    ProcessFacts,
    ProgramSpec,
    Quantity,
    Replay,
    Reproduction,
    Sample,
    ServerOptions,
    WindowFacts,
    WorkCheck,
)
from heapwise.store import StoredRun

ATTACK_QUANTITIES = (
    "corrupted",
    "stopped_at_once",
    "stopped_later",
    "calls_until_stop",
    "hung",
    "false_alarms",
)
FATES: dict[str, tuple[tuple[float, ...], ...]] = {
    "malloc@glibc": ((1, 0, 0, 0, 0, 0), (0, 0, 1, 37, 0, 0), (0, 0, 0, 0, 0, 0)),
    "malloc@heapwise": ((0, 1, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0.05), (0, 0.25, 0, 0, 0, 0)),
    "malloc@mimalloc": ((0.2, 0.8, 0, 0, 0, 0), (0, 0, 0, 0, 1, 0), (0, 1, 0, 0, 0, 0)),
}
"""For each attack the values of ATTACK_QUANTITIES."""

ATTACKS = ("twice", "freed_of_new_owner", "overflow")
LOADS = {"none": 1.0, "50%": 0.5}


def attacks() -> StoredRun:
    """Three attacks with blocks of two sizes, under three allocators, one of them protected."""
    stored = pool_run()
    names = list(FATES)
    experiment = replace(
        stored.run.experiments[0],
        id="attacks/frees",
        family="attacks",
        question="What becomes of a free that is wrong?",
        parameters=[
            Parameter("attack", "what is done", list(ATTACKS), list(ATTACKS)),
            Parameter("size", "of a block", [8, 4096], [8, 4096], "bytes"),
        ],
        quantities=[Quantity(name, "per attempt", "lower") for name in ATTACK_QUANTITIES],
        subjects=[s for s in stored.run.experiments[0].subjects if s.name in names],
        published=[],
        repeats=1,
        dropped_repeats=0,
    )
    cells = [
        {"attack": attack, "size": size, "fate": place}
        for place, attack in enumerate(ATTACKS)
        for size in (8, 4096)
    ]
    subjects = [s for s in stored.run.plan.subjects if s.name in names]
    subjects = [replace(s, peer=_protected(s.peer)) if s.name == names[2] else s for s in subjects]
    return _drawn(
        with_plan(stored, experiments=[experiment.id], subjects=subjects),
        experiment,
        [{"attack": cell["attack"], "size": cell["size"]} for cell in cells],
        names,
        3,
        lambda name, place, _: dict(
            zip(ATTACK_QUANTITIES, map(float, FATES[name][cells[place]["fate"]]), strict=True)
        ),
    )


def _protected(peer: Peer | None) -> Peer | None:
    return replace(peer, protection="hardened") if peer else None


def _drawn(
    stored: StoredRun,
    experiment: Experiment,
    cells: list[dict[str, Any]],
    names: Iterable[str],
    rounds: int,
    values: Callable[[str, int, int], dict[str, float]],
    facts: Callable[[str, int, int], ProcessFacts] | None = None,
) -> StoredRun:
    """Each subject once in each cell of each round. values, facts: of a subject, the number of a
    cell, and a round."""
    processes: list[Process] = []
    samples: list[Sample] = []
    for round_ in range(rounds):
        for place, cell in enumerate(cells):
            for name in names:
                number = len(processes)
                own = facts(name, place, round_) if facts else ProcessFacts(start=START)
                processes.append(
                    Process(
                        number=number,
                        experiment=experiment.id,
                        subject=name,
                        parameters=cell,
                        round=round_,
                        status="ok",
                        identity=identity(name.removesuffix("-control").rpartition("@")[2]),
                        facts=structs.replace(own, wall_s=0.2, exit_code=0, affinity=[0, 1]),
                    )
                )
                samples.append(
                    Sample(
                        process=number,
                        experiment=experiment.id,
                        subject=name,
                        parameters=cell,
                        round=round_,
                        repeat=0,
                        warm_up=False,
                        values=values(name, place, round_),
                    )
                )
    run = replace(stored.run, experiments=[experiment])
    return replace(stored, run=run, processes=processes, samples=samples)


SERVER_SPEED = {"glibc": 1.0, "glibc-control": 1.0, "mimalloc": 1.12, "jemalloc": 1.05}


def server() -> StoredRun:
    """Two loads, one with a rate, under three allocators and a control."""
    stored = compare_run(Script())
    lower = ("latency_p50", "latency_p99", "latency_p99_9", "latency_max", "cpu_per_request")
    memory = ("peak_memory", "tree_peak", "group_peak", "after_load", "after_idle")
    experiment = replace(
        stored.run.experiments[0],
        id="server",
        family="server",
        parameters=[Parameter("load", "share of the capacity", list(LOADS), list(LOADS))],
        quantities=[
            Quantity("throughput", "requests/s", "higher"),
            *(Quantity(name, "ns" if "cpu" in name else "s", "lower") for name in lower),
            *(Quantity(name, "bytes", "lower") for name in memory),
        ],
        subjects=[s for s in stored.run.experiments[0].subjects if s.name in SERVER_SPEED],
    )
    random = np.random.default_rng(7)

    def values(name: str, place: int, round_: int) -> dict[str, float]:
        speed = SERVER_SPEED[name] * float(random.lognormal(0, 0.004))
        found = {"cpu_per_request": 21_000 / speed}
        found |= {each: 2e8 * (1 + at / 8) / speed for at, each in enumerate(memory)}
        if place == 0:
            return found | {"throughput": 40_000 * speed}
        return found | {each: 0.001 * (1 + at) / speed for at, each in enumerate(lower[:4])}

    def facts(name: str, place: int, round_: int) -> ProcessFacts:
        rate = None if place == 0 else 20_000.0
        load = LoadFacts(
            generator="oha",
            open_loop=place > 0,
            intended_rate=rate,
            achieved_rate=rate or 40_000.0,
            requests=200_000,
            generator_cpu=0.2,
            ready_s=0.1,
            began_s=0.2,
            ended_s=10.2,
            stopped_s=15.2,
            windows=[
                WindowFacts(1.0 * at, 1.0 + at, 40_000, 40_000.0 + 100 * at, warm_up=at == 0)
                for at in range(10 if place == 0 else 0)
            ],
        )
        return ProcessFacts(load=load)

    subjects = [s for s in stored.run.plan.subjects if s.name in SERVER_SPEED]
    options = replace(
        stored.run.plan.options,
        server=ServerOptions("tcp:{port}", ["oha"], rates=[0.5]),
        rounds_given=True,
    )
    planned = with_plan(
        stored,
        kind="run",
        experiments=["server"],
        parameters={"load": list(LOADS)},
        subjects=subjects,
        min_rounds=6,
        max_rounds=6,
        precision=0.0,
        warm_up_rounds=0,
        options=options,
    )
    return _drawn(
        planned, experiment, [{"load": load} for load in LOADS], SERVER_SPEED, 6, values, facts
    )


def gate() -> StoredRun:
    """The time regressed, and the memory did not."""
    stored = compare_run(
        Script(
            time={"base": 1.0, "base-control": 1.0, "new": 1.09},
            memory={"base": 1.0, "base-control": 1.0, "new": 1.002},
            rounds=30,
        )
    )
    subjects = [replace(s, baseline=s.name == "base", peer=None) for s in stored.run.plan.subjects]
    limits = {"time": 0.03, "peak_memory": 0.05}
    run = replace(stored.run, experiments=[replace(stored.run.experiments[0], baseline="base")])
    options = replace(run.plan.options, gate=GateOptions(limits))
    return with_plan(replace(stored, run=run), subjects=subjects, options=options)


def programs() -> StoredRun:
    """Three programs under each allocator."""
    here = [ProgramSpec(name, name, ["true"]) for name in ("gawk", "perl", "sqlite3")]
    quantities = [Quantity("wall", "s", "lower"), Quantity("peak_resident", "bytes", "lower")]
    experiment = replace(
        experiment_of("heap/real_programs", quantities, list(SPEED)),
        parameters=[Parameter("program", "", [program.name for program in here], [])],
        programs=here,
    )
    stored = heap_run(Heap(extra=[experiment], rounds=4, threads=(1,)))
    processes = [p for p in stored.processes if p.experiment == experiment.id]
    samples = [s for s in stored.samples if s.experiment == experiment.id]
    run = replace(stored.run, experiments=[experiment])
    planned = replace(stored, run=run, processes=processes, samples=samples)
    return with_plan(planned, experiments=[experiment.id])


def advice() -> StoredRun:
    """Two candidates for pools, of which one gains."""
    stored = pool_run()
    names = {"as_recorded": 1.0, "as_recorded-control": 1.0, "candidate_1": 0.8, "candidate_2": 1.0}
    experiment = replace(
        stored.run.experiments[0],
        id="trace/advice",
        family="trace",
        parameters=[],
        quantities=[Quantity("time", "ns/call", "lower"), Quantity("peak", "bytes", "lower")],
        subjects=[
            replace(stored.run.experiments[0].subjects[0], name=name, title=name)
            for name in names
            if not name.endswith("-control")
        ],
        baseline="as_recorded",
        published=[],
        repeats=1,
        dropped_repeats=0,
    )
    candidates = [
        PoolCandidate(
            f"candidate_{number}",
            f"make_{number} (orders.cpp:1{number})",
            48,
            100_000 * number,
            "unsynchronized",
            "/t.script",
            looks="48 B, short-lived",
        )
        for number in (1, 2)
    ]
    random = np.random.default_rng(8)

    def values(name: str, place: int, round_: int) -> dict[str, float]:
        noise = float(random.lognormal(0, 0.004))
        return {"time": 20 * names[name] * noise, "peak": 4096.0 * (1 + names[name])}

    subjects = [
        replace(
            stored.run.plan.subjects[0],
            name=name,
            title=name,
            baseline=name == "as_recorded",
            control=name.endswith("-control"),
        )
        for name in names
    ]
    options = replace(
        stored.run.plan.options,
        replay=structs.replace(_trace(), candidates=candidates, without_pool=["other: mixed"]),
    )
    planned = with_plan(stored, experiments=[experiment.id], subjects=subjects, options=options)
    checks = [WorkCheck("work", True, "all of it")]
    drawn = _drawn(planned, experiment, [{}], names, 12, values)
    return with_facts(drawn, lambda _: {"checks": checks})


def _trace() -> Replay:
    return Replay(
        "/t.hwt",
        "/t.script",
        ["program"],
        calls=1000,
        threads=2,
        handed_over=3,
        peak_live_bytes=4096,
        script_peak_live_bytes=4096,
    )


def replay() -> StoredRun:
    """A trace that was played under each subject."""
    stored = pool_run(rounds=3)
    options = replace(stored.run.plan.options, replay=_trace())
    checks = [WorkCheck("work", True, "all of it")]
    return with_facts(with_plan(stored, options=options), lambda _: {"checks": checks})


def reproduction() -> StoredRun:
    stored = pool_run(rounds=6)
    options = replace(stored.run.plan.options, reproduction=Reproduction("pool-vs-malloc", {}))
    return with_plan(stored, options=options)


EVERY_KIND: dict[str, Callable[[], StoredRun]] = {
    "program": compare_run,
    "programs": programs,
    "server": server,
    "gate": gate,
    "pools": partial(pool_run, 3, threads=[1, 2]),
    "experiments": shelf_run,
    "trees": partial(trees_run, Trees(lost={"ocaml": ("crashed", "crashed (SIGSEGV)")})),
    "attacks": attacks,
    "replay": replay,
    "advice": advice,
    "reproduction": reproduction,
}
