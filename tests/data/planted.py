"""Runs in which one thing is wrong, made from clean ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from msgspec import structs
from synthetic import POOL, Script, changed, compare_run, peer, pool_run

from heapwise.evidence import Evidence
from heapwise.model import (
    Calls,
    Check,
    End,
    Identity,
    Library,
    LostExec,
    PlanOptions,
    Planted,
    ProbeFacts,
    Process,
    ProcessFacts,
    Replay,
    Sample,
    SelfTest,
    WorkCheck,
)
from heapwise.store import StoredRun
from heapwise.trust import check_run

Plant = Callable[[], StoredRun]


def verdict_of(stored: StoredRun, id: str) -> Check:
    return next(check for check in check_run(Evidence(stored)).checks if check.id == id)


def with_facts(stored: StoredRun, change: Callable[[Process], dict[str, Any]]) -> StoredRun:
    """Counting processes are left alone."""
    return replace(
        stored,
        processes=[p if p.facts.counting else changed(p, **change(p)) for p in stored.processes],
    )


def without_facts(stored: StoredRun, *names: str) -> StoredRun:
    """None of them is a fact that the experiment printed at its start."""

    def bare(record: Process | Sample) -> Process | Sample:
        known = set(record.facts.__struct_fields__)
        return changed(record, **dict.fromkeys(known & set(names)))

    return replace(
        stored,
        processes=[bare(p) for p in stored.processes],
        samples=[bare(s) for s in stored.samples],
    )


def with_start(stored: StoredRun, **changes: Any) -> StoredRun:
    """What the experiments said of themselves."""
    return with_facts(stored, lambda p: {"start": structs.replace(p.facts.start, **changes)})


def with_plan(stored: StoredRun, **changes: Any) -> StoredRun:
    return replace(stored, run=replace(stored.run, plan=replace(stored.run.plan, **changes)))


def replayed(**changes: Any) -> StoredRun:
    """A run whose processes all made the calls of a trace; ``changes`` are of the trace."""
    trace = Replay(
        "/t.hwt",
        "/t.script",
        ["program"],
        calls=1000,
        threads=2,
        handed_over=3,
        peak_live_bytes=4096,
        script_peak_live_bytes=4096,
    )
    stored = with_plan(pool_run(), options=PlanOptions(replay=structs.replace(trace, **changes)))
    return with_facts(stored, lambda _: {"checks": [WorkCheck("work", True, "all of it")]})


def with_machine_after(stored: StoredRun, **settings: Any) -> StoredRun:
    after = stored.run.machine_after
    assert after is not None
    facts = structs.replace(after.facts, settings=after.facts.settings | settings)
    return replace(stored, run=replace(stored.run, machine_after=replace(after, facts=facts)))


def in_the_wrong_library(process: Process) -> Process:
    if process.subject != "jemalloc" or process.number % 2:
        return process
    other = [Identity(malloc=Library(path="/lib/libc.so.6", build_id="id-glibc"))]
    return replace(process, identity=other)


def child_with_its_own(process: Process) -> Process:
    child = Identity(exe="/opt/own", malloc=Library(path="/opt/own", build_id="id-own"))
    return replace(process, identity=[*process.identity, child])


def with_children(counts: Callable[[Process], int]) -> Script:
    """Each process starts others, as many as ``counts`` says."""

    def edit(process: Process) -> Process:
        child = structs.replace(process.identity[0], exe="/usr/bin/child", count=counts(process))
        return replace(process, identity=[*process.identity, child])

    return Script(edit=edit)


def losing(process: Process) -> dict[str, Any]:
    return {
        "probe": ProbeFacts(
            execs=2,
            lost_execs=2,
            lost=[LostExec("/opt/static", "kept"), LostExec("/usr/bin/job", "dropped")],
        )
    }


def silent(process: Process) -> Process:
    return replace(process, identity=[]) if process.subject == "mimalloc" else process


def other_output(process: Process) -> Process:
    if process.subject != "scudo":
        return process
    return changed(process, output_hash="xxh3:2")


def crashing(process: Process) -> Process:
    if process.subject != "scudo":
        return process
    return replace(process, status="crashed", reason="crashed (SIGSEGV)")


def baseline_fails(process: Process) -> Process:
    return replace(process, status="failed") if process.subject == "glibc" else process


def label_matters(subject: str, round_: int, value: float) -> float:
    return value * 1.05 if subject == "glibc-control" else value


def slightly_biased(stored: StoredRun) -> StoredRun:
    """Too little for any one interval to be certain, and in every cell."""
    return replace(
        stored,
        samples=[
            replace(s, values={name: value * 1.007 for name, value in s.values.items()})
            if s.subject.endswith("-control")
            else s
            for s in stored.samples
        ],
    )


def more_memory_by_label(stored: StoredRun) -> StoredRun:
    """The time is left alone."""

    def more(sample: Sample) -> Sample:
        if sample.subject != "glibc-control":
            return sample
        return replace(
            sample, values=sample.values | {"peak_memory": sample.values["peak_memory"] * 1.05}
        )

    return replace(stored, samples=[more(sample) for sample in stored.samples])


def ratio_drifts(subject: str, round_: int, value: float) -> float:
    return value * (1 + 0.01 * round_) if subject == "mimalloc" else value


def machine_drifts(subject: str, round_: int, value: float) -> float:
    return value * (1 + 0.02 * round_)


def few_calls(stored: StoredRun) -> StoredRun:
    return with_calls(stored, Calls(malloc=1000, free=1000), bytes_requested=100_000)


def with_calls(stored: StoredRun, calls: Calls, **facts: Any) -> StoredRun:
    """What the counting processes found."""
    return replace(
        stored,
        processes=[
            changed(p, calls=calls, **facts) if p.facts.counting else p for p in stored.processes
        ],
    )


def counted(stored: StoredRun, seen: int) -> StoredRun:
    extra = Process(
        number=len(stored.processes),
        experiment="pool/bulk",
        subject="malloc@glibc",
        parameters={},
        round=-1,
        status="ok",
        warm_up=True,
        facts=ProcessFacts(
            counting=True, end=End(expected_calls=1_000_000), calls=Calls(malloc=seen)
        ),
    )
    return replace(stored, processes=[*stored.processes, extra])


def counted_under(stored: StoredRun, subject: str, calls: int) -> StoredRun:
    """One more counting process, of another subject than the baseline."""
    process = replace(
        stored.processes[0],
        number=len(stored.processes),
        subject=subject,
        facts=structs.replace(stored.processes[0].facts, calls=Calls(malloc=calls)),
    )
    return replace(stored, processes=[*stored.processes, process])


def with_samples(stored: StoredRun, change: Callable[[Sample], dict[str, Any]]) -> StoredRun:
    return replace(stored, samples=[changed(s, **change(s)) for s in stored.samples])


def debug_peer(stored: StoredRun) -> StoredRun:
    subjects = [
        replace(s, peer=replace(s.peer, debug_build=True)) if s.peer and s.name == "jemalloc" else s
        for s in stored.run.plan.subjects
    ]
    return with_plan(stored, subjects=subjects)


def nameless_peer(stored: StoredRun) -> StoredRun:
    subjects = [
        replace(s, peer=replace(peer("x"), version="", build_id="")) if s.name == "jemalloc" else s
        for s in stored.run.plan.subjects
    ]
    return with_plan(stored, subjects=subjects)


def no_control(stored: StoredRun) -> StoredRun:
    keep = [s for s in stored.run.plan.subjects if not s.control]
    return replace(
        with_plan(stored, subjects=keep),
        samples=[s for s in stored.samples if not s.subject.endswith("-control")],
    )


def compare() -> StoredRun:
    return compare_run()


def with_settings(stored: StoredRun, **settings: Any) -> StoredRun:
    machine = stored.run.machine
    facts = structs.replace(machine.facts, settings={**machine.facts.settings, **settings})
    return replace(stored, run=replace(stored.run, machine=replace(machine, facts=facts)))


def with_peer(stored: StoredRun, subject: str, **changes: Any) -> StoredRun:
    return with_plan(
        stored,
        subjects=[
            replace(s, peer=replace(s.peer, **changes)) if s.peer and s.name == subject else s
            for s in stored.run.plan.subjects
        ],
    )


def pinned_by_itself(processors: Callable[[Process], list[int]]) -> Script:
    def edit(process: Process) -> Process:
        return replace(
            process, identity=[structs.replace(process.identity[0], affinity=processors(process))]
        )

    return Script(edit=edit)


def waiting(sample: Sample) -> dict[str, Any]:
    """The repeats that waited long are those that took less."""
    return {"waited_ns": 0.0 if sample.values["alloc_fresh"] > POOL[sample.subject] else 2e8}


def slow_start(subject: str, round_: int, value: float) -> float:
    return value * 1.2 if round_ in (0, 1) else value


def with_an_inlined_heap() -> StoredRun:
    stored = pool_run()
    experiments = [
        replace(
            e,
            family="heap",
            subjects=[replace(s, kind="malloc" if "@" in s.name else "inline") for s in e.subjects],
        )
        for e in stored.run.experiments
    ]
    return replace(stored, run=replace(stored.run, experiments=experiments))


def with_selftest(stored: StoredRun, *planted: Planted) -> StoredRun:
    found = SelfTest("2026-11-22T12:00:00", "0.1.0", "b", "m", 30.0, list(planted))
    return replace(stored, run=replace(stored.run, self_test=found))


def effect(percent: int, outcome: Any) -> Planted:
    return Planted("V6", f"{percent} % more work", outcome, "+1 to +2 %", percent / 100)


ROUNDS_OF_A_DAY = 12


def of_two_days(days_effect: float, seed: int = 1, next_day: int = 2) -> StoredRun:
    """jemalloc is as fast as glibc on the first day, and slower by the effect on the second."""
    stored = compare_run(
        Script(
            rounds=2 * ROUNDS_OF_A_DAY,
            seed=seed,
            time=dict.fromkeys(Script().time, 1.0),
            bend=lambda name, number, value: (
                value * (1 + days_effect * (name == "jemalloc" and number >= ROUNDS_OF_A_DAY))
            ),
        )
    )
    return replace(
        stored,
        processes=[
            replace(
                p,
                started_at=f"2026-11-0{1 if p.round < ROUNDS_OF_A_DAY else next_day}"
                f"T10:{p.round:02}:00+00:00",
            )
            for p in stored.processes
        ],
    )


def slowed_by_the_one_before(script: Script | None = None) -> StoredRun:
    """Whatever runs after mimalloc takes 3 % longer."""
    stored = compare_run(script or Script())
    before = {p.number: stored.processes[p.number - 1].subject for p in stored.processes[1:]}
    return replace(
        stored,
        samples=[
            replace(s, values={**s.values, "wall_time": s.values["wall_time"] * 1.03})
            if before[s.process] == "mimalloc"
            else s
            for s in stored.samples
        ],
    )


def interrupted() -> StoredRun:
    """scudo takes 30 % longer, and uses the processor as long as glibc."""

    def works(sample: Sample) -> Sample:
        cpu = sample.values["cpu_time"] / (1.3 if sample.subject == "scudo" else 1)
        return replace(sample, values={**sample.values, "cpu_time": cpu})

    stored = compare_run()
    return replace(stored, samples=[works(sample) for sample in stored.samples])
