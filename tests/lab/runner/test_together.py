"""When the rest of a comparison is measured side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from synthetic import Script, compare_run

from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.model import Build, Plan, PlanOptions
from heapwise.runner.together import demand_possible, may_choose, obstacles, pays


def known(**options: Any) -> tuple[Plan, Evidence]:
    """A comparison of four labels that run for 1 s each on one processor."""
    labels = ["glibc", "glibc-control", "mimalloc"]
    stored = compare_run(
        Script(rounds=12, time=dict.fromkeys(labels, 1.0), memory=dict.fromkeys(labels, 1.0))
    )
    plan = replace(
        stored.run.plan, time_s=180.0, max_rounds=0, options=PlanOptions(**options), min_rounds=6
    )
    return plan, Evidence(replace(stored, run=replace(stored.run, plan=plan)))


@pytest.mark.parametrize(
    ("options", "elapsed_s", "width", "expected"),
    [
        ({}, 30.0, 0.05, True),
        ({}, 30.0, None, True),
        ({}, 30.0, 0.01, False),  # the rest of the time narrows it to 0.4 %
        ({}, 175.0, 0.05, False),  # no time for pairs
        ({"side_by_side": False}, 30.0, 0.05, False),
        ({"side_by_side": True}, 30.0, 0.0, True),
        ({"output_files": ["/tmp/out"]}, 30.0, 0.05, False),
    ],
)
def test_pairs_follow_if_separate_processes_will_not_tell(
    options: dict[str, Any], elapsed_s: float, width: float | None, expected: bool
) -> None:
    plan, evidence = known(**options)
    assert pays(plan, evidence, elapsed_s, width) is expected


def test_a_program_on_several_processors_does_not_run_in_pairs() -> None:
    plan, evidence = known()
    stored = evidence.stored
    processes = [
        replace(p, facts=replace_times(p.facts, cpu=1.9 * float(p.facts.wall_s or 0)))
        for p in stored.processes
    ]
    parallel = Evidence(replace(stored, processes=processes))
    assert not pays(plan, parallel, 30.0, 0.05)


def replace_times(facts: Any, cpu: float) -> Any:
    from msgspec import structs

    return structs.replace(facts, user_s=cpu, system_s=0.0)


def test_a_number_of_rounds_is_not_changed() -> None:
    plan, evidence = known()
    assert not pays(replace(plan, max_rounds=12), evidence, 30.0, 0.05)


def test_a_third_of_the_time_is_enough_for_the_choice() -> None:
    plan, _ = known()
    assert not may_choose(plan, 3, 30.0)
    assert may_choose(plan, 3, 61.0)
    assert may_choose(plan, 6, 5.0)
    assert not may_choose(plan, 2, 100.0)


@pytest.mark.parametrize(
    ("build", "options", "words"),
    [
        ({"prepare": "sync"}, {}, "commands run before"),
        ({"cleanup": "rm x"}, {}, "commands run before"),
        ({}, {"check": "test -e x"}, "a check runs"),
        ({}, {"fresh_folder": True}, "a fresh folder"),
        ({}, {"output_files": ["/tmp/x"]}, "files that are compared"),
    ],
)
def test_things_that_two_processes_would_share_are_obstacles(
    build: dict[str, str], options: dict[str, Any], words: str
) -> None:
    plan, _ = known(side_by_side=True, **options)
    plan = replace(plan, builds=[Build("", ["true"], **build)])
    assert words in obstacles(plan)[0]
    with pytest.raises(Problem, match=words):
        demand_possible(plan)
    demand_possible(replace(plan, options=PlanOptions(**options)))
