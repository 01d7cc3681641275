"""Each check fires on a planted fault, and never passes without facts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planted import (
    Plant,
    baseline_fails,
    child_with_its_own,
    compare,
    counted,
    counted_under,
    crashing,
    debug_peer,
    effect,
    few_calls,
    in_the_wrong_library,
    interrupted,
    label_matters,
    losing,
    machine_drifts,
    more_memory_by_label,
    nameless_peer,
    no_control,
    of_two_days,
    other_output,
    pinned_by_itself,
    ratio_drifts,
    replayed,
    silent,
    slightly_biased,
    slow_start,
    slowed_by_the_one_before,
    verdict_of,
    waiting,
    with_children,
    with_facts,
    with_machine_after,
    with_peer,
    with_plan,
    with_samples,
    with_selftest,
    with_settings,
    with_start,
    without_facts,
)
from synthetic import Script, compare_run, pool_run
from synthetic_shelf import Shelf, shelf_run

from heapwise.model import (
    Check,
    Counter,
    PlanOptions,
    Planted,
    Processor,
    SelfTest,
    WorkCheck,
)
from heapwise.trust.judge import check_modules

FAULTS: list[tuple[str, str, Plant]] = [
    ("V1", "fail", lambda: compare_run(Script(edit=in_the_wrong_library))),
    ("V1", "fail", lambda: compare_run(Script(edit=silent))),
    ("V1", "warn", lambda: compare_run(Script(edit=child_with_its_own))),
    (
        "V1",
        "fail",
        lambda: compare_run(with_children(lambda p: 4 if p.subject == "jemalloc" else 5)),
    ),
    (
        "V1",
        "fail",
        lambda: compare_run(
            with_children(lambda p: 4 if (p.subject, p.round) == ("jemalloc", 3) else 5)
        ),
    ),
    (
        "V1",
        "warn",
        lambda: compare_run(with_children(lambda p: 6 if p.subject == "jemalloc" else 5)),
    ),
    ("V1", "warn", lambda: counted_under(compare(), "jemalloc", 0)),
    ("V1", "warn", lambda: with_facts(compare(), losing)),
    ("V2", "warn", lambda: with_facts(compare(), losing)),
    (
        "V2",
        "warn",
        lambda: replace(
            compare(),
            run=replace(
                compare().run,
                preflight=[Check("V2", "", "warn", "forced: its own allocator inside")],
            ),
        ),
    ),
    ("V3", "warn", lambda: few_calls(compare())),
    ("V8", "warn", lambda: counted_under(compare(), "jemalloc", 21_000_000)),
    ("V4", "fail", lambda: counted(pool_run(), 12)),
    ("V5", "fail", lambda: compare_run(Script(bend=label_matters))),
    ("V5", "fail", lambda: compare_run(Script(bend=label_matters, rounds=6))),
    ("V5", "fail", lambda: slightly_biased(shelf_run(Shelf(rounds=6)))),
    ("V5", "warn", lambda: more_memory_by_label(compare_run(Script(noise=0.002, rounds=8)))),
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
    (
        "V8",
        "warn",
        lambda: with_plan(
            with_facts(compare_run(), lambda p: {"lingering": 2}),
            options=PlanOptions(allow_background=True),
        ),
    ),
    ("V8", "warn", lambda: with_facts(compare_run(), lambda p: {"output_bytes": 0})),
    ("V8", "warn", lambda: with_facts(compare_run(), lambda p: {"late_s": 0.1})),
    (
        "V8",
        "fail",
        lambda: with_facts(
            compare_run(),
            lambda p: {
                "output_files": {
                    "/out": "sha256:2" if p.subject.startswith("glibc") else "sha256:1"
                }
            },
        ),
    ),
    (
        "V8",
        "fail",
        lambda: with_facts(
            pool_run(),
            lambda p: {"checks": [WorkCheck("work", p.number != 3, "999 of 1000 blocks")]},
        ),
    ),
    (
        "V8",
        "warn",
        lambda: with_plan(
            compare_run(Script(edit=other_output)), options=PlanOptions(ignore_output=True)
        ),
    ),
    ("V9", "fail", lambda: compare_run(Script(bend=ratio_drifts, rounds=20))),
    ("V9", "warn", lambda: compare_run(Script(bend=machine_drifts, rounds=20))),
    ("V9", "warn", lambda: compare_run(Script(shuffle=False))),
    ("V10", "warn", lambda: with_settings(compare(), aslr=0)),
    ("V10", "warn", lambda: with_settings(compare(), personality="00040000")),
    ("V10", "warn", lambda: with_plan(compare(), command=["/usr/bin/setarch", "-R", "toy"])),
    ("V11", "fail", lambda: with_facts(compare(), lambda p: {"affinity": [p.number % 2]})),
    (
        "V11",
        "warn",
        lambda: compare_run(pinned_by_itself(lambda p: [1] if p.subject == "jemalloc" else [0])),
    ),
    ("V11", "fail", lambda: with_plan(compare(), options=PlanOptions(cpus=[1]))),
    ("V11", "fail", lambda: with_samples(pool_run(), lambda s: {"cpus": [5]})),
    (
        "V12",
        "warn",
        lambda: with_facts(
            compare(), lambda p: {"spin_after_ns": 1_100_000 if p.number % 2 else 1_000_000}
        ),
    ),
    ("V13", "warn", lambda: with_facts(compare(), lambda p: {"steal_ticks": 50})),
    ("V13", "warn", lambda: with_facts(compare(), lambda p: {"psi_cpu_us": 2_000_000})),
    ("V13", "warn", lambda: with_facts(compare(), lambda p: {"involuntary_switches": 5000})),
    ("V13", "warn", lambda: with_facts(compare(), lambda p: {"throttled_us": 100_000})),
    (
        "V14",
        "warn",
        lambda: with_facts(compare(), lambda p: {"counters": [Counter("cycles", 10, 1000, 500)]}),
    ),
    ("V15", "warn", lambda: compare_run(Script(bend=slow_start))),
    (
        "V15",
        "warn",
        lambda: with_facts(
            compare(), lambda p: {"wall_s": 60.0 if p.number == 1 else p.facts.wall_s}
        ),
    ),
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
    (
        "V21",
        "warn",
        lambda: with_peer(
            compare(),
            "jemalloc",
            environment_prefixes=["MALLOC_"],
            environment={"MALLOC_CONF": "tcache:false"},
        ),
    ),
    ("V22", "warn", lambda: with_facts(compare(), lambda p: {"wall_s": 0.03})),
    ("V23", "warn", lambda: pool_run(rounds=1)),
    ("V23", "warn", lambda: compare_run(Script(rounds=2))),
    ("V23", "warn", lambda: compare_run(Script(rounds=6))),
    ("V23", "warn", lambda: replace(compare(), damaged_lines=2)),
    ("V24", "fail", lambda: replayed(missed_calls=1)),
    ("V24", "fail", lambda: replayed(missed_threads=1)),
    ("V24", "fail", lambda: replayed(script_peak_live_bytes=4095)),
    (
        "V24",
        "fail",
        lambda: with_facts(replayed(), lambda p: {"checks": [WorkCheck("work", p.number > 0, "")]}),
    ),
    ("V24", "warn", lambda: replayed(unknown_ends=11)),
    (
        "V25",
        "warn",
        lambda: replace(
            compare(),
            run=replace(
                compare().run,
                self_test=SelfTest(
                    "2026-11-22T12:00:00",
                    "0.1.0",
                    "b",
                    "m",
                    30.0,
                    [Planted("V8", "another output", "missed", "")],
                ),
            ),
        ),
    ),
    (
        "V26",
        "warn",
        lambda: with_facts(
            compare(),
            lambda p: {
                "processors": [Processor(cpu=0, breadth_before_ns=40_000 + 8_000 * (p.number % 2))]
            },
        ),
    ),
    ("V26", "warn", lambda: with_samples(pool_run(rounds=6), waiting)),
    (
        "V26",
        "warn",
        lambda: with_samples(
            pool_run(), lambda s: {"breadth_before_ns": 60_000 if s.process else 40_000}
        ),
    ),
    ("V27", "warn", lambda: counted_under(compare(), "glibc-control", 28_600_000)),
    ("V28", "warn", slowed_by_the_one_before),
    ("V29", "warn", interrupted),
    ("V30", "warn", lambda: of_two_days(0.05)),
    ("V31", "warn", lambda: with_facts(compare(), lambda p: {"user_s": 0.1, "system_s": 0.0})),
]


ELSEWHERE = {"V16"}
"""Planted in test_loads.py: it needs servers under load."""


ABSENT: list[tuple[str, Plant]] = [
    (
        "V1",
        lambda: replace(
            compare(), processes=[replace(p, identity=[]) for p in compare().processes]
        ),
    ),
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
    (
        "V21",
        lambda: with_plan(
            compare(), subjects=[replace(s, peer=None) for s in compare().run.plan.subjects]
        ),
    ),
    ("V22", lambda: replace(compare(), processes=compare().processes[1:])),
    ("V22", pool_run),
    ("V23", lambda: replace(compare(), samples=[])),
    ("V24", compare),
    ("V24", lambda: replace(replayed(), processes=[])),
    ("V25", compare),
    ("V26", compare),
    ("V27", compare),
    ("V28", lambda: compare_run(Script(rounds=5))),
    ("V29", lambda: compare_run(Script(rounds=5))),
    ("V30", compare),
    ("V31", lambda: without_facts(compare(), "wall_s")),
    ("V31", pool_run),
]


@pytest.mark.parametrize(
    ("id", "verdict", "plant"), FAULTS, ids=[f"{f[0]}-{i}" for i, f in enumerate(FAULTS)]
)
def test_fires_on_a_planted_fault(id: str, verdict: str, plant: Plant) -> None:
    found = verdict_of(plant(), id)
    assert found.verdict == verdict, found.detail
    assert found.detail.endswith(".") or id == "V2"


@pytest.mark.parametrize(("id", "plant"), ABSENT, ids=[f"{a[0]}-{i}" for i, a in enumerate(ABSENT)])
def test_without_facts_it_is_unavailable(id: str, plant: Plant) -> None:
    assert verdict_of(plant(), id).verdict == "unavailable"


def test_every_check_fires_and_is_missed_somewhere() -> None:
    ids = {module.ID for module in check_modules()}
    assert ids == {f"V{number}" for number in range(1, 32)}
    assert ids == {id for id, _, _ in FAULTS} | ELSEWHERE == {id for id, _ in ABSENT}


def test_a_replay_of_all_that_was_recorded_passes() -> None:
    found = verdict_of(replayed(), "V24")
    assert found.verdict == "pass"
    assert "1,000 calls of 2 threads" in found.detail
