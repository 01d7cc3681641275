"""Each check is silent on clean data, fires on a planted fault, and never passes without facts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs
from synthetic import POOL, Script, changed, compare_run, peer, pool_run
from synthetic_shelf import Shelf, shelf_run

from heapwise.analysis.standing import standings
from heapwise.evidence import Evidence
from heapwise.model import (
    Calls,
    Check,
    Counter,
    End,
    Identity,
    Library,
    LostExec,
    PlanOptions,
    Planted,
    ProbeFacts,
    Process,
    ProcessFacts,
    Processor,
    Sample,
    SelfTest,
    WorkCheck,
)
from heapwise.store import StoredRun
from heapwise.trust import check_run
from heapwise.trust.judge import check_modules, overall

Plant = Callable[[], StoredRun]


def verdict_of(stored: StoredRun, id: str) -> Check:
    return next(check for check in check_run(Evidence(stored)).checks if check.id == id)


def with_facts(stored: StoredRun, change: Callable[[Process], dict[str, Any]]) -> StoredRun:
    """Counting processes are left alone."""
    return replace(stored, processes=[
        p if p.facts.counting else changed(p, **change(p))
        for p in stored.processes])


def without_facts(stored: StoredRun, *names: str) -> StoredRun:
    """None of them is a fact that the experiment printed at its start."""
    def bare(record: Process | Sample) -> Process | Sample:
        known = set(record.facts.__struct_fields__)
        return changed(record, **dict.fromkeys(known & set(names)))

    return replace(stored, processes=[bare(p) for p in stored.processes],
                   samples=[bare(s) for s in stored.samples])


def with_start(stored: StoredRun, **changes: Any) -> StoredRun:
    """What the experiments said of themselves."""
    return with_facts(stored, lambda p: {"start": structs.replace(p.facts.start, **changes)})


def with_plan(stored: StoredRun, **changes: Any) -> StoredRun:
    return replace(stored, run=replace(stored.run, plan=replace(stored.run.plan, **changes)))


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
    return {"probe": ProbeFacts(execs=2, lost_execs=2, lost=[
        LostExec("/opt/static", "kept"), LostExec("/usr/bin/job", "dropped")])}


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
    return replace(stored, samples=[
        replace(s, values={name: value * 1.007 for name, value in s.values.items()})
        if s.subject.endswith("-control") else s for s in stored.samples])


def ratio_drifts(subject: str, round_: int, value: float) -> float:
    return value * (1 + 0.01 * round_) if subject == "mimalloc" else value


def machine_drifts(subject: str, round_: int, value: float) -> float:
    return value * (1 + 0.02 * round_)


def few_calls(stored: StoredRun) -> StoredRun:
    rare = Calls(malloc=1000, free=1000)
    return replace(stored, processes=[
        changed(p, calls=rare) if p.facts.counting else p
        for p in stored.processes])


def counted(stored: StoredRun, seen: int) -> StoredRun:
    extra = Process(
        number=len(stored.processes), experiment="pool/bulk", subject="malloc@glibc",
        parameters={}, round=-1, status="ok", warm_up=True,
        facts=ProcessFacts(counting=True, end=End(expected_calls=1_000_000),
                           calls=Calls(malloc=seen)))
    return replace(stored, processes=[*stored.processes, extra])


def counted_under(stored: StoredRun, subject: str, calls: int) -> StoredRun:
    """One more counting process, of another subject than the baseline."""
    process = replace(stored.processes[0], number=len(stored.processes), subject=subject,
                      facts=structs.replace(stored.processes[0].facts,
                                            calls=Calls(malloc=calls)))
    return replace(stored, processes=[*stored.processes, process])


def with_samples(stored: StoredRun, change: Callable[[Sample], dict[str, Any]]) -> StoredRun:
    return replace(stored, samples=[changed(s, **change(s)) for s in stored.samples])


def debug_peer(stored: StoredRun) -> StoredRun:
    subjects = [replace(s, peer=replace(s.peer, debug_build=True))
                if s.peer and s.name == "jemalloc" else s for s in stored.run.plan.subjects]
    return with_plan(stored, subjects=subjects)


def nameless_peer(stored: StoredRun) -> StoredRun:
    subjects = [replace(s, peer=replace(peer("x"), version="", build_id=""))
                if s.name == "jemalloc" else s for s in stored.run.plan.subjects]
    return with_plan(stored, subjects=subjects)


def no_control(stored: StoredRun) -> StoredRun:
    keep = [s for s in stored.run.plan.subjects if not s.control]
    return replace(with_plan(stored, subjects=keep),
                   samples=[s for s in stored.samples if not s.subject.endswith("-control")])


def compare() -> StoredRun:
    return compare_run()


def with_settings(stored: StoredRun, **settings: Any) -> StoredRun:
    machine = stored.run.machine
    facts = structs.replace(machine.facts, settings={**machine.facts.settings, **settings})
    return replace(stored, run=replace(stored.run, machine=replace(machine, facts=facts)))


def with_peer(stored: StoredRun, subject: str, **changes: Any) -> StoredRun:
    return with_plan(stored, subjects=[
        replace(s, peer=replace(s.peer, **changes)) if s.peer and s.name == subject else s
        for s in stored.run.plan.subjects])


def pinned_by_itself(processors: Callable[[Process], list[int]]) -> Script:
    def edit(process: Process) -> Process:
        return replace(process, identity=[structs.replace(
            process.identity[0], affinity=processors(process))])

    return Script(edit=edit)


def waiting(sample: Sample) -> dict[str, Any]:
    """The repeats that waited long are those that took less."""
    return {"waited_ns": 0.0 if sample.values["alloc_fresh"] > POOL[sample.subject] else 2e8}


def slow_start(subject: str, round_: int, value: float) -> float:
    return value * 1.2 if round_ in (0, 1) else value


def with_an_inlined_heap() -> StoredRun:
    stored = pool_run()
    experiments = [replace(e, family="heap", subjects=[
        replace(s, kind="malloc" if "@" in s.name else "inline") for s in e.subjects])
        for e in stored.run.experiments]
    return replace(stored, run=replace(stored.run, experiments=experiments))


def test_a_heap_that_is_compiled_in_is_never_ranked_with_libraries() -> None:
    evidence = Evidence(with_an_inlined_heap())
    inlined = {name for name in evidence.subjects if "@" not in name}
    assert "ranked apart" in verdict_of(evidence.stored, "V21").detail
    found = standings(evidence)
    assert found
    for standing in found:
        assert standing.best not in inlined
        assert not inlined & set(standing.level())
        assert all(standing.places[name].aside for name in inlined & standing.places.keys())


def with_selftest(stored: StoredRun, *planted: Planted) -> StoredRun:
    found = SelfTest("2026-11-22T12:00:00", "0.1.0", "b", "m", 30.0, list(planted))
    return replace(stored, run=replace(stored.run, self_test=found))


def effect(percent: int, outcome: Any) -> Planted:
    return Planted("V6", f"{percent} % more work", outcome, "+1 to +2 %", percent / 100)


FAULTS: list[tuple[str, str, Plant]] = [
    ("V1", "fail", lambda: compare_run(Script(edit=in_the_wrong_library))),
    ("V1", "fail", lambda: compare_run(Script(edit=silent))),
    ("V1", "warn", lambda: compare_run(Script(edit=child_with_its_own))),
    ("V1", "fail", lambda: compare_run(with_children(
        lambda p: 4 if p.subject == "jemalloc" else 5))),
    ("V1", "fail", lambda: compare_run(with_children(
        lambda p: 4 if (p.subject, p.round) == ("jemalloc", 3) else 5))),
    ("V1", "warn", lambda: compare_run(with_children(
        lambda p: 6 if p.subject == "jemalloc" else 5))),
    ("V1", "warn", lambda: counted_under(compare(), "jemalloc", 0)),
    ("V1", "warn", lambda: with_facts(compare(), losing)),
    ("V2", "warn", lambda: with_facts(compare(), losing)),
    ("V2", "warn", lambda: replace(compare(), run=replace(
        compare().run, preflight=[Check("V2", "", "warn", "forced: its own allocator inside")]))),
    ("V3", "warn", lambda: few_calls(compare())),
    ("V8", "warn", lambda: counted_under(compare(), "jemalloc", 21_000_000)),
    ("V4", "fail", lambda: counted(pool_run(), 12)),
    ("V5", "fail", lambda: compare_run(Script(bend=label_matters))),
    ("V5", "fail", lambda: compare_run(Script(bend=label_matters, rounds=6))),
    ("V5", "fail", lambda: slightly_biased(shelf_run(Shelf(rounds=6)))),
    ("V5", "warn", lambda: compare_run(Script(noise=0.2, rounds=8))),
    ("V6", "warn", lambda: with_selftest(compare(), effect(10, "missed"))),
    ("V6", "warn", lambda: with_selftest(compare(), effect(3, "too noisy"))),
    ("V7", "fail", lambda: with_facts(compare(), lambda p: {"launcher_rss_bytes": 100 * 2**20})),
    ("V7", "fail", lambda: with_facts(compare(), lambda p: {"peak_rss_bytes": 4096})),
    ("V7", "fail", lambda: with_facts(compare(), lambda p: {"peak_rss_bytes": 2**50})),
    ("V7", "warn", lambda: with_facts(compare(), lambda p: {"peak_rss_bytes": 3 * 2**20})),
    ("V8", "fail", lambda: compare_run(Script(edit=other_output))),
    ("V8", "warn", lambda: compare_run(Script(edit=crashing))),
    ("V8", "fail", lambda: compare_run(Script(edit=baseline_fails))),
    ("V8", "fail", lambda: with_facts(compare_run(), lambda p: {"lingering": 2})),
    ("V8", "warn", lambda: with_plan(with_facts(compare_run(), lambda p: {"lingering": 2}),
                                     options=PlanOptions(allow_background=True))),
    ("V8", "warn", lambda: with_facts(compare_run(), lambda p: {"output_bytes": 0})),
    ("V8", "warn", lambda: with_facts(compare_run(), lambda p: {"late_s": 0.1})),
    ("V8", "fail", lambda: with_facts(compare_run(), lambda p: {
        "output_files": {"/out": "sha256:2" if p.subject.startswith("glibc") else "sha256:1"}})),
    ("V8", "fail", lambda: with_facts(pool_run(), lambda p: {
        "checks": [WorkCheck("work", p.number != 3, "999 of 1000 blocks")]})),
    ("V8", "warn", lambda: with_plan(compare_run(Script(edit=other_output)),
                                     options=PlanOptions(ignore_output=True))),
    ("V9", "fail", lambda: compare_run(Script(bend=ratio_drifts, rounds=20))),
    ("V9", "warn", lambda: compare_run(Script(bend=machine_drifts, rounds=20))),
    ("V9", "warn", lambda: compare_run(Script(shuffle=False))),
    ("V10", "warn", lambda: with_settings(compare(), aslr=0)),
    ("V10", "warn", lambda: with_settings(compare(), personality="00040000")),
    ("V10", "warn", lambda: with_plan(compare(), command=["/usr/bin/setarch", "-R", "toy"])),
    ("V11", "fail", lambda: with_facts(compare(), lambda p: {"affinity": [p.number % 2]})),
    ("V11", "warn", lambda: compare_run(pinned_by_itself(
        lambda p: [1] if p.subject == "jemalloc" else [0]))),
    ("V11", "fail", lambda: with_plan(compare(), options=PlanOptions(cpus=[1]))),
    ("V11", "fail", lambda: with_samples(pool_run(), lambda s: {"cpus": [5]})),
    ("V12", "warn", lambda: with_facts(compare(), lambda p: {
        "spin_after_ns": 1_100_000 if p.number % 2 else 1_000_000})),
    ("V13", "warn", lambda: with_facts(compare(), lambda p: {"steal_ticks": 50})),
    ("V13", "warn", lambda: with_facts(compare(), lambda p: {"psi_cpu_us": 2_000_000})),
    ("V13", "warn", lambda: with_facts(compare(), lambda p: {"involuntary_switches": 5000})),
    ("V13", "warn", lambda: with_facts(compare(), lambda p: {"throttled_us": 100_000})),
    ("V14", "warn", lambda: with_facts(compare(), lambda p: {
        "counters": [Counter("cycles", 10, 1000, 500)]})),
    ("V15", "warn", lambda: compare_run(Script(bend=slow_start))),
    ("V15", "warn", lambda: with_facts(compare(), lambda p: {
        "wall_s": 60.0 if p.number == 1 else p.facts.wall_s})),
    ("V17", "warn", lambda: with_facts(compare(), lambda p: {"wall_s": 0.001})),
    ("V17", "warn", lambda: with_samples(pool_run(), lambda s: {"elapsed_ns": 20_000})),
    ("V18", "fail", lambda: debug_peer(compare())),
    ("V18", "fail", lambda: with_start(pool_run(), flags="-O2 -O0")),
    ("V18", "warn", lambda: with_start(pool_run(), ndebug=False)),
    ("V18", "fail", lambda: with_peer(compare(), "jemalloc", unoptimised=True)),
    ("V18", "warn", lambda: with_peer(compare(), "jemalloc", asserts=40)),
    ("V18", "warn", lambda: nameless_peer(compare())),
    ("V19", "fail", lambda: with_machine_after(compare(), thp="always")),
    ("V20", "warn", lambda: with_plan(compare(), environment={"MALLOC_ARENA_MAX": "1"})),
    ("V20", "warn", lambda: with_plan(compare(), environment={"LD_BIND_NOT": "1"})),
    ("V21", "warn", lambda: with_peer(
        compare(), "jemalloc", environment_prefixes=["MALLOC_"],
        environment={"MALLOC_CONF": "tcache:false"})),
    ("V22", "warn", lambda: with_facts(compare(), lambda p: {"wall_s": 0.03})),
    ("V23", "warn", lambda: pool_run(rounds=1)),
    ("V23", "warn", lambda: compare_run(Script(rounds=2))),
    ("V23", "warn", lambda: compare_run(Script(rounds=6))),
    ("V23", "warn", lambda: replace(compare(), damaged_lines=2)),
    ("V25", "warn", lambda: replace(compare(), run=replace(compare().run, self_test=SelfTest(
        "2026-11-22T12:00:00", "0.1.0", "b", "m", 30.0,
        [Planted("V8", "another output", "missed", "")])))),
    ("V26", "warn", lambda: with_facts(compare(), lambda p: {
        "processors": [Processor(cpu=0, breadth_before_ns=40_000 + 8_000 * (p.number % 2))]})),
    ("V26", "warn", lambda: with_samples(pool_run(rounds=6), waiting)),
    ("V26", "warn", lambda: with_samples(pool_run(), lambda s: {
        "breadth_before_ns": 60_000 if s.process else 40_000})),
]

NOT_YET = {"V16", "V24"}
"""Their features do not exist yet, so nothing can be planted."""

ABSENT: list[tuple[str, Plant]] = [
    ("V1", lambda: replace(compare(), processes=[replace(p, identity=[])
                                                 for p in compare().processes])),
    ("V2", lambda: replace(compare(), run=replace(compare().run, preflight=[]))),
    ("V3", lambda: replace(compare(), processes=compare().processes[1:])),
    ("V4", pool_run),
    ("V5", lambda: no_control(compare())),
    ("V5", lambda: compare_run(Script(rounds=2))),
    ("V6", compare),
    ("V6", lambda: with_selftest(compare(), Planted("V1", "a child", "found", ""))),
    ("V7", lambda: without_facts(compare(), "peak_rss_bytes")),
    ("V7", lambda: without_facts(compare(), "launcher_rss_bytes")),
    ("V8", lambda: without_facts(compare(), "output_hash")),
    ("V9", lambda: compare_run(Script(rounds=1, time={"glibc": 1.0, "mimalloc": 0.9}))),
    ("V10", lambda: with_settings(compare(), aslr=None)),
    ("V11", lambda: without_facts(compare(), "affinity")),
    ("V12", lambda: without_facts(compare(), "spin_before_ns", "spin_after_ns")),
    ("V13", lambda: without_facts(compare(), "steal_ticks", "psi_cpu_us", "involuntary_switches")),
    ("V14", compare),
    ("V15", lambda: compare_run(Script(rounds=4))),
    ("V16", compare),
    ("V17", lambda: without_facts(compare(), "wall_s")),
    ("V17", lambda: with_start(pool_run(), clock=None)),
    ("V18", lambda: with_plan(with_start(pool_run(), compiler=None), subjects=[])),
    ("V19", lambda: replace(compare(), run=replace(compare().run, machine_after=None))),
    ("V20", lambda: with_plan(compare(), environment={})),
    ("V21", lambda: with_plan(compare(), subjects=[
        replace(s, peer=None) for s in compare().run.plan.subjects])),
    ("V22", lambda: replace(compare(), processes=compare().processes[1:])),
    ("V22", pool_run),
    ("V23", lambda: replace(compare(), samples=[])),
    ("V24", compare),
    ("V25", compare),
    ("V26", compare),
]


@pytest.mark.parametrize(("id", "verdict", "plant"), FAULTS,
                         ids=[f"{f[0]}-{i}" for i, f in enumerate(FAULTS)])
def test_fires_on_a_planted_fault(id: str, verdict: str, plant: Plant) -> None:
    found = verdict_of(plant(), id)
    assert found.verdict == verdict, found.detail
    assert found.detail.endswith(".") or id == "V2"


@pytest.mark.parametrize(("id", "plant"), ABSENT,
                         ids=[f"{a[0]}-{i}" for i, a in enumerate(ABSENT)])
def test_without_facts_it_is_unavailable(id: str, plant: Plant) -> None:
    assert verdict_of(plant(), id).verdict == "unavailable"


def test_clean_comparison_is_good() -> None:
    trust = check_run(Evidence(compare()))
    assert trust.verdict == "good"
    assert {c.id for c in trust.checks if c.verdict != "pass"} == {
        "V4", "V6", "V14", "V16", "V24", "V25", "V26"}


def test_clean_experiments_pass_everything_that_they_have_facts_for() -> None:
    stored = counted(pool_run(rounds=8), 1_000_000)
    verdicts = {c.id: c.verdict for c in check_run(Evidence(stored)).checks}
    missing = {id for id, verdict in verdicts.items() if verdict != "pass"}
    assert missing == {
        "V2", "V3", "V5", "V6", "V14", "V16", "V22", "V24", "V25"}
    assert all(verdicts[id] == "unavailable" for id in missing)


def test_every_check_fires_and_is_missed_somewhere() -> None:
    ids = {module.ID for module in check_modules()}
    assert ids == {f"V{number}" for number in range(1, 27)}
    assert ids == {id for id, _, _ in FAULTS} | NOT_YET == {id for id, _ in ABSENT}


def test_two_rounds_say_nothing_of_labels_however_many_repeats_they_have() -> None:
    """Repeats of a process share what it has; only rounds are independent."""
    def another(sample: Sample) -> Sample:
        factor = 1.5 + sample.round / 2 if sample.subject == "aos-control" else 1.0
        return replace(sample, values={
            name: value * factor for name, value in sample.values.items()})

    few = shelf_run(Shelf(rounds=2))
    found = verdict_of(replace(few, samples=[another(s) for s in few.samples]), "V5")
    assert found.verdict == "unavailable"


def test_the_right_output_is_the_baselines_and_not_that_of_most() -> None:
    def others(process: Process) -> Process:
        if process.subject.startswith("glibc"):
            return process
        return replace(process, facts=structs.replace(process.facts, output_hash="xxh3:2"))

    found = verdict_of(compare_run(Script(edit=others)), "V8")
    assert found.figures["different"] == ["jemalloc", "mimalloc", "scudo"]


@pytest.mark.parametrize(("again", "other", "said"), [
    (20_000_000, 20_190_000, ""), (20_000_000, 20_210_000, "jemalloc 20,210,000"),
    (20_400_000, 20_790_000, ""), (20_400_000, 20_810_000, "jemalloc 20,810,000"),
])
def test_counts_may_differ_as_much_as_those_of_the_same_thing_twice(
    again: int, other: int, said: str
) -> None:
    stored = counted_under(counted_under(compare(), "glibc-control", again), "jemalloc", other)
    found = verdict_of(stored, "V8")
    assert found.verdict == ("warn" if said else "pass")
    assert said in found.detail


def test_a_counting_process_that_crashed_counts_nothing() -> None:
    """It ended early, so its count is too small; so is a dose that is computed from it."""
    stored = compare()
    failed = replace(stored.processes[0], status="discarded", reason="crashed (SIGSEGV)")
    found = verdict_of(replace(stored, processes=[failed, *stored.processes[1:]]), "V3")
    assert found.verdict == "unavailable"
    assert "crashed (SIGSEGV)" in found.detail


def test_the_dose_is_of_the_processes_that_were_measured() -> None:
    """The first process of a run is cold, and the counter slows its process down."""
    stored = compare()
    first = replace(stored.processes[0], facts=structs.replace(
        stored.processes[0].facts, counted_wall_s=400.0, plain_wall_s=400.0))
    found = verdict_of(replace(stored, processes=[first, *stored.processes[1:]]), "V3")
    assert found.verdict == "pass"
    assert found.figures["seconds"] < 3


def test_a_program_that_starts_more_or_fewer_processes_each_time_is_no_fault() -> None:
    found = verdict_of(compare_run(with_children(lambda p: 3 + p.number % 3)), "V1")
    assert found.verdict == "pass", found.detail
    always = verdict_of(compare_run(with_children(
        lambda p: 1 if p.subject == "scudo" else 3 + p.number % 3)), "V1")
    assert always.verdict == "fail"
    assert "/usr/bin/child 1 instead of 3 times under scudo" in always.detail


def test_what_lost_the_library_is_named_with_the_reason() -> None:
    found = verdict_of(with_facts(compare(), losing), "V2")
    assert found.detail.startswith("Partial: ")
    assert "/usr/bin/job (LD_PRELOAD was taken out of its environment; " in found.detail
    assert "/opt/static (static, setuid" in found.detail


def test_an_effect_of_one_percent_may_be_lost_in_the_noise() -> None:
    found = verdict_of(with_selftest(
        compare(), effect(1, "too noisy"), effect(10, "found")), "V6")
    assert found.verdict == "pass"
    assert "Found 1 of 2 effects" in found.detail


def test_what_a_parallel_program_makes_itself_wait_is_no_neighbour() -> None:
    stored = with_facts(compare(), lambda p: {
        "psi_cpu_us": 2_000_000, "involuntary_switches": 5000, "user_s": 2 * p.facts.wall_s})
    assert verdict_of(stored, "V13").verdict == "pass"


def test_counters_that_ran_all_the_time_and_those_that_are_missing_are_named() -> None:
    whole = [Counter("instructions", 10, 1000, 1000), Counter("page_faults", 10, 1000, 1000)]
    found = verdict_of(with_facts(compare(), lambda p: {"counters": whole}), "V14")
    assert found.verdict == "pass"
    assert found.figures["running_share"] == {"instructions": 1.0, "page_faults": 1.0}
    kernels = verdict_of(with_facts(compare(), lambda p: {
        "counters": whole[1:], "counters_missing": "cycles: not allowed"}), "V14")
    assert kernels.verdict == "unavailable"
    assert "cycles: not allowed" in kernels.detail
    assert "page_faults" in kernels.detail


def test_a_program_that_pins_itself_is_no_fault() -> None:
    found = verdict_of(compare_run(pinned_by_itself(lambda p: [0])), "V11")
    assert found.verdict == "pass"
    assert "The program chose [0] for itself." in found.detail


def test_few_layouts_and_their_scatter_are_said() -> None:
    found = verdict_of(compare_run(Script(rounds=6)), "V10")
    assert "6 processes of a subject are few" in found.detail
    assert found.figures["between_processes"]["glibc"] < 0.1
    assert "are few" not in verdict_of(compare(), "V10").detail


def test_cold_and_steady_are_told_apart() -> None:
    found = verdict_of(compare_run(Script(
        bend=lambda name, round_, value: value * 1.5 if round_ < 0 else value)), "V15")
    assert found.verdict == "pass", found.detail
    assert found.figures["cold"][0] > 0.4
    assert "which does not count, took" in found.detail


def test_what_an_allocator_needs_to_work_is_no_tuning() -> None:
    stored = with_peer(compare(), "jemalloc", environment={"GLIBC_TUNABLES": "x=0"})
    assert verdict_of(stored, "V21").verdict == "pass"
    assert "GLIBC_TUNABLES=x=0 for jemalloc" in verdict_of(stored, "V21").detail
    assert "jemalloc gets GLIBC_TUNABLES=x=0" in verdict_of(stored, "V20").detail


def test_false_alarms_are_rare() -> None:
    runs = (compare_run(Script(seed=seed)) for seed in range(40))
    alarms = sum(check_run(Evidence(run)).verdict != "good" for run in runs)
    assert alarms <= 4


def test_every_check_explains_itself_and_has_its_number() -> None:
    for module in check_modules():
        assert module.__doc__
        assert module.__doc__.strip().endswith(("?", ".", "had."))
        assert re.fullmatch(r"V\d+", module.ID)
        assert module.__name__.rpartition(".")[2].startswith(f"v{int(module.ID[1:]):02d}_")


@pytest.mark.parametrize(("verdicts", "expected"), [
    (["pass", "pass"], "good"), (["pass", "unavailable"], "good"), (["pass", "warn"], "limited"),
    (["warn", "fail"], "not trustworthy"),
])
def test_the_worst_decides(verdicts: list[Any], expected: str) -> None:
    checks = [Check(f"V{90 + i}", "", verdict, "") for i, verdict in enumerate(verdicts)]
    assert overall(checks, {"V1"}) == expected


def test_an_essential_check_that_is_unavailable_limits() -> None:
    assert overall([Check("V5", "", "unavailable", "")], {"V5"}) == "limited"


def test_identity_claims_no_more_than_the_processes_that_wrote_a_line() -> None:
    check = verdict_of(compare_run(), "V1")
    assert "first processes, and as expected" in check.detail
    more = replace(compare_run(), processes=[
        replace(p, identity=[*p.identity, *p.identity]) for p in compare_run().processes])
    assert " processes that they started, and" in verdict_of(more, "V1").detail


def test_a_child_with_its_own_allocator_does_not_excuse_another_library() -> None:
    both = compare_run(Script(edit=lambda p: child_with_its_own(in_the_wrong_library(p))))
    found = verdict_of(both, "V1")
    assert found.verdict == "fail"
    assert "libc.so.6" in found.detail


def test_a_run_with_rounds_enough_is_not_told_that_fewer_could_tell() -> None:
    few = verdict_of(compare_run(Script(rounds=6)), "V23").detail
    assert few.endswith("would not survive 3 comparisons at once; at least 7 rounds are needed.")
    times = dict.fromkeys(("glibc", "glibc-control", "mimalloc", *"abcde"), 1.0)
    many = verdict_of(compare_run(Script(
        time=times | {"mimalloc": 1.05}, memory=times, rounds=10, noise=0.03, seed=2)), "V23")
    assert many.detail.endswith("would not survive 6 comparisons at once; more rounds could tell.")


def test_the_aa_test_counts_the_intervals_that_it_shows() -> None:
    """The first quantity is always zero here, so that only others have A/A intervals."""
    stored = compare_run(Script(noise=0.004, bend=lambda name, round, time: time * (
        1.0045 if name == "glibc-control" else 1.0)))
    zero = replace(stored, samples=[
        replace(s, values=s.values | {"wall_time": 0.0}) for s in stored.samples])
    found = verdict_of(zero, "V5")
    floors = found.figures["floors"]
    assert sum(floor["low"] <= 1 <= floor["high"] for floor in floors) == 2
    assert found.detail.startswith("2 of 3 A/A intervals contain 1")
