"""What counts say where time cannot be told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from planted import with_facts
from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import Build, Calls, Counter, Process, Result
from heapwise.store import StoredRun

CALLS, BYTES = 20_000_000, 2_000_000_000
CAVEAT = "Counts say what changed, not how long it takes."


def builds(new_calls: int, *, noise: float = 0.2, memory: float = 1.0) -> StoredRun:
    """Two builds whose calls were counted, and the baseline again under its other label."""
    names = ("glibc", "glibc-control", "new")
    script = Script(
        time=dict.fromkeys(names, 1.0),
        memory=dict.fromkeys(names, 1.0) | {"new": memory},
        noise=noise,
    )
    stored = compare_run(script)
    plan = stored.run.plan
    plan = replace(
        plan,
        builds=[Build("old", plan.command), Build("new", plan.command)],
        subjects=[
            replace(each, build="new" if each.name == "new" else "old") for each in plan.subjects
        ],
    )
    first = stored.processes[0]
    counting = [_counted(first, "glibc-control", CALLS), _counted(first, "new", new_calls)]
    return replace(
        stored,
        run=replace(stored.run, plan=plan),
        processes=[*stored.processes, *counting],
    )


def _counted(process: Process, subject: str, calls: int) -> Process:
    facts = structs.replace(
        process.facts,
        calls=Calls(malloc=calls, free=calls),
        bytes_requested=calls * (BYTES // CALLS),
    )
    return replace(process, number=9000 + len(subject), subject=subject, facts=facts)


def result(stored: StoredRun) -> Result:
    return analyse(Evidence(stored))


def test_calls_that_changed_are_told_where_time_cannot_be() -> None:
    advice = result(builds(22_000_000)).advice
    assert "Cannot tell yet" in advice or "cannot tell yet" in advice
    assert "By counts, new against glibc: calls of malloc 10.0 % more (22,000,000, not" in advice
    assert advice.count(CAVEAT) == 1


def test_equal_counts_are_told_too() -> None:
    advice = result(builds(CALLS)).advice
    assert "By counts, new against glibc: no difference in calls of malloc" in advice


def test_a_program_that_calls_malloc_no_more_has_no_factor() -> None:
    advice = result(builds(0)).advice
    assert "By counts, new against glibc: calls of malloc 0, not 20,000,000" in advice


def test_a_time_that_is_known_needs_no_counts() -> None:
    assert "By counts" not in result(builds(22_000_000, noise=0.001)).advice


def test_page_faults_are_told_with_their_interval() -> None:
    """Which is left out here, as both of its ends round to the number itself."""
    advice = result(builds(CALLS, memory=1.25)).advice
    assert "By counts, new against glibc: minor page faults 1.25x as much. " in advice


@pytest.mark.parametrize("running", [1000, 500])
def test_instructions_count_if_their_counter_ran_all_the_time(running: int) -> None:
    def counted(process: Process) -> dict[str, object]:
        number = 1_100_000_000 if process.subject == "new" else 1_000_000_000
        return {"counters": [Counter("instructions", number + process.round, 1000, running)]}

    advice = result(with_facts(builds(CALLS), counted)).advice
    assert ("instructions 1.10x as much." in advice) == (running == 1000)


def test_allocators_of_one_build_have_the_same_calls() -> None:
    """V8 compares them; here are only the counts that an allocator can change."""
    names = ("glibc", "glibc-control", "mimalloc")
    memory = dict.fromkeys(names, 1.0) | {"mimalloc": 1.1}
    stored = compare_run(Script(time=dict.fromkeys(names, 1.0), memory=memory, noise=0.2))
    advice = result(stored).advice
    assert "By counts, mimalloc against glibc: minor page faults 1.10x as much" in advice
    assert "calls of malloc" not in advice
