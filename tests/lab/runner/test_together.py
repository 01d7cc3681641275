"""When the rest of a comparison is measured side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs
from synthetic import Script, compare_run

from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.model import (
    Build,
    BuildPlace,
    ChangedName,
    ChangedNames,
    GateOptions,
    Plan,
    PlanOptions,
)
from heapwise.runner.campaign import together
from heapwise.runner.campaign.steps import MOST_BESIDE, steps_together
from heapwise.runner.campaign.together import (
    demand_possible,
    has_to_ask,
    is_in_vain,
    may_ask,
    may_choose,
    may_leave,
    most_beside,
    obstacles,
    pays,
    runs_of,
    slice_of,
)
from heapwise.stats.claims.limits import FIRST_LOOK


def known(**options: Any) -> tuple[Plan, Evidence]:
    """A comparison of three labels that run for 2.4 s each on one processor."""
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
    assert pays(plan, evidence, 12, elapsed_s, width) is expected


@pytest.mark.parametrize(
    ("rounds", "width", "expected"), [(3, 0.02, False), (3, 0.05, True), (12, 0.02, True)]
)
def test_few_rounds_have_wide_intervals_that_more_of_them_narrow(
    rounds: int, width: float, expected: bool
) -> None:
    """By Student's t: half of 3 rounds' interval is 4.3 standard errors, of 18 rounds' 2.1."""
    plan, evidence = known()
    assert pays(plan, evidence, rounds, 30.0, width) is expected


@pytest.mark.parametrize("time_given", [True, False])
def test_rounds_that_are_run_in_any_case_may_be_side_by_side(time_given: bool) -> None:
    plan, evidence = known(time_given=time_given)
    assert pays(plan, evidence, 1, 178.0, 0.05) is not time_given
    assert not pays(plan, evidence, 5, 178.0, 0.05)


def test_if_not_one_separate_round_fits_one_of_groups_is_enough() -> None:
    """A round of groups takes about 4.4 s here, and one of processes that wait as well 6 s."""
    plan, evidence = known(time_given=True)
    waiting = waited(evidence, wall=2.0, cpu=1.0)
    assert not pays(plan, waiting, 1, 174.5, None)
    assert pays(plan, waiting, 0, 174.5, None)
    assert not pays(plan, waiting, 0, 172.5, None)


@pytest.mark.parametrize(
    ("limits", "width", "expected"),
    [
        ({"time": 0.03}, 0.05, True),
        ({"cpu_time": 0.03}, None, True),
        ({"time": 0.10}, 0.05, False),  # separate processes will tell
        ({"peak_memory": 0.03}, 0.05, False),
    ],
)
def test_a_gate_goes_side_by_side_if_separate_processes_will_not_decide_its_limit_of_time(
    limits: dict[str, float], width: float | None, expected: bool
) -> None:
    plan, evidence = known(gate=GateOptions(limits))
    assert pays(plan, evidence, 6, 90.0, width) == expected


def test_a_gate_does_not_look_at_pairs_after_a_regression_may_have_been_confirmed() -> None:
    """Else separate processes and pairs would each have the false alarms of a gate."""
    plan, evidence = known(gate=GateOptions({"time": 0.03}), side_by_side=True)
    assert may_choose(plan, 11, 60.0, evidence)
    assert not may_choose(plan, 12, 60.0, evidence)


@pytest.mark.parametrize(("beside", "found"), [("/two/app", []), ("", ["in turn"])])
def test_builds_that_have_one_path_in_turn_do_not_run_at_once(
    beside: str, found: list[str]
) -> None:
    place = BuildPlace("/one/app", "/one", "/tree", "/tree/app", beside=beside)
    plan, _ = known(gate=GateOptions({"time": 0.03}, places={"base": place}))
    assert [words[-len("in turn") :] for words in obstacles(plan)] == found


def waited(evidence: Evidence, wall: float, cpu: float) -> Evidence:
    """The same processes on a machine on which others take most of the time."""
    processes = [
        replace(
            p,
            facts=structs.replace(
                p.facts, wall_s=wall, user_s=cpu, system_s=0.0, psi_cpu_us=int(wall * 1e6)
            ),
        )
        for p in evidence.stored.processes
    ]
    return Evidence(replace(evidence.stored, processes=processes))


def test_a_program_on_several_processors_does_not_run_in_pairs() -> None:
    plan, evidence = known()
    stored = evidence.stored
    processes = [
        replace(p, facts=replace_times(p.facts, cpu=1.9 * float(p.facts.wall_s or 0)))
        for p in stored.processes
    ]
    parallel = Evidence(replace(stored, processes=processes))
    assert not pays(plan, parallel, 12, 30.0, 0.05)


@pytest.mark.parametrize("written", [1, None])
def test_a_program_that_writes_runs_in_pairs_only_if_asked(written: int | None) -> None:
    """Two of it might spoil each other's files; None: the kernel does not say."""
    plan, evidence = known()
    processes = [
        replace(p, facts=structs.replace(p.facts, written_elsewhere_bytes=written))
        for p in evidence.stored.processes
    ]
    writing = Evidence(replace(evidence.stored, processes=processes))
    asked = replace(plan, options=replace(plan.options, side_by_side=True))
    assert pays(plan, writing, 12, 30.0, 0.05)
    assert has_to_ask(plan, writing)
    assert not has_to_ask(asked, writing)
    assert not has_to_ask(plan, evidence)


def looked_at(evidence: Evidence, *looks: ChangedNames) -> Evidence:
    """With processes that write to pipes, and looks at some that are not timed."""
    stored = evidence.stored
    first = stored.processes[0]
    timed = [
        replace(p, facts=structs.replace(p.facts, written_elsewhere_bytes=100))
        for p in stored.processes
    ]
    more = [
        replace(
            first,
            number=1000 + number,
            round=-1,
            warm_up=True,
            facts=structs.replace(first.facts, counting=True, changed_names=names),
        )
        for number, names in enumerate(looks)
    ]
    return Evidence(replace(stored, processes=[*timed, *more]))


FAILED = ["beside others: exit code 3", "the baseline beside it: beside others: exit code 3"]


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        ([["ok", "ok"]], False),
        ([["ok", "beside others: exit code 3"]], False),
        ([FAILED], True),
        ([["ok", "ok"], FAILED], False),  # it can run beside itself
        ([["ok", "ok"], FAILED, FAILED], False),
        ([["ok", "ok"], FAILED, FAILED, FAILED], True),
        ([["ok", "ok"], FAILED, ["ok", FAILED[0]], FAILED, FAILED], False),
        ([["ok", "ok"], FAILED, ["the others ran beside it for 78% of its time"], FAILED], False),
        ([["the others ran beside it for 78% of its time"] * 2], False),  # only lost
        ([["the others ran beside it for 78% of its time"] * 2] * 3, True),
        ([["ok", "ok"], *[["the others ran beside it for 78% of its time"] * 2] * 3], False),
    ],
)
def test_rounds_side_by_side_end_if_the_program_fails_beside_itself(
    rounds: list[list[str]], expected: bool
) -> None:
    first = known()[1].stored.processes[0]
    together = [
        replace(
            first,
            round=round,
            status="ok" if words == "ok" else "discarded",
            reason="" if words == "ok" else words,
        )
        for round, all_words in enumerate(rounds)
        for words in all_words
    ]
    assert is_in_vain(together, len(rounds) - 1) is expected


def names_of(*names: ChangedName, missing: str | None = None, more: int = 0) -> ChangedNames:
    return ChangedNames(missing=missing, names=list(names), more=more)


FIXED = ChangedName("/srv/state", "written")
FIXED_LOCK = ChangedName("/srv/lock", "made", exclusive=True)
NEW = [ChangedName(f"/tmp/tmp{each}", "made", exclusive=True) for each in "ab"]
NUMBERED = [ChangedName(f"/tmp/jvm/{each}", "made", numbered=True) for each in (17, 39)]
BY_CLOCK = [ChangedName(f"/tmp/log-{each}", "made") for each in (1764, 1765)]


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ([names_of(), names_of()], False),
        ([names_of(NEW[0]), names_of(NEW[1])], False),
        ([names_of(NUMBERED[0]), names_of(NUMBERED[1])], False),
        ([names_of(FIXED), names_of(FIXED)], True),
        ([names_of(FIXED_LOCK), names_of(FIXED_LOCK)], True),
        ([names_of(NUMBERED[0]), names_of(NUMBERED[0])], True),
        ([names_of(BY_CLOCK[0]), names_of(BY_CLOCK[1])], True),  # two at once have the same time
        ([names_of(), names_of(FIXED)], True),
        ([names_of(NEW[0])], True),  # nothing to compare with
        ([names_of()], False),
        ([names_of(), names_of(missing="it uses io_uring")], True),
        ([names_of(more=3), names_of(more=3)], True),
        ([], True),
    ],
)
def test_a_program_runs_in_pairs_unasked_if_no_name_is_of_two_processes(
    looks: list[ChangedNames], expected: bool
) -> None:
    plan, evidence = known()
    assert has_to_ask(plan, looked_at(evidence, *looks)) is expected


def test_a_look_at_a_process_that_failed_tells_nothing() -> None:
    plan, evidence = known()
    stored = looked_at(evidence, names_of()).stored
    failed = [replace(p, status="discarded") if p.facts.counting else p for p in stored.processes]
    assert has_to_ask(plan, Evidence(replace(stored, processes=failed)))


@pytest.mark.parametrize(
    ("options", "max_rounds", "expected"),
    [
        ({}, 0, True),
        ({}, 12, False),
        ({"side_by_side": True}, 0, False),
        ({"side_by_side": False}, 0, False),
        ({"fresh_folder": True}, 0, True),
        ({"output_files": ["/tmp/out"]}, 0, False),
    ],
)
def test_names_are_looked_at_if_they_can_matter(
    options: dict[str, Any], max_rounds: int, expected: bool
) -> None:
    plan, _ = known(**options)
    assert may_ask(replace(plan, max_rounds=max_rounds)) is expected


@pytest.mark.parametrize(("cpu", "slice_s"), [(0.01, 0.003), (0.4, 0.01), (60.0, 0.02)])
def test_slices_follow_the_length_of_the_program(cpu: float, slice_s: float) -> None:
    _, evidence = known()
    processes = [
        replace(p, facts=replace_times(p.facts, cpu=cpu)) for p in evidence.stored.processes
    ]
    found = slice_of(Evidence(replace(evidence.stored, processes=processes)))
    assert found == pytest.approx(slice_s)


@pytest.mark.parametrize(
    ("cpu", "elapsed_s", "expected"),
    [(0.01, 30.0, 1), (0.03, 30.0, 4), (0.3, 30.0, 2), (0.3, 120.0, 1), (2, 0, 1)],
)
def test_a_short_program_runs_several_times_in_a_group(
    cpu: float, elapsed_s: float, expected: int
) -> None:
    plan, evidence = known()
    short = waited(evidence, wall=cpu, cpu=cpu)
    assert runs_of(plan, short, elapsed_s) == expected
    gate = replace(plan, options=PlanOptions(gate=GateOptions({"time": 0.03})))
    assert runs_of(gate, short, elapsed_s) == 1


def replace_times(facts: Any, cpu: float) -> Any:
    return structs.replace(facts, user_s=cpu, system_s=0.0)


def test_a_number_of_rounds_is_not_changed() -> None:
    plan, evidence = known()
    assert not pays(replace(plan, max_rounds=12), evidence, 12, 30.0, 0.05)


def under_pressure(evidence: Evidence, share: float) -> Evidence:
    """The same processes on a machine on which something waited for this share of their time."""
    stored = evidence.stored
    return Evidence(
        replace(
            stored,
            processes=[
                replace(
                    p,
                    facts=structs.replace(
                        p.facts, psi_cpu_us=int(share * 1e6 * (p.facts.wall_s or 0))
                    ),
                )
                for p in stored.processes
            ],
        )
    )


def test_a_busy_machine_needs_fewer_separate_rounds() -> None:
    plan, evidence = known()
    quiet, busy = under_pressure(evidence, 0.1), under_pressure(evidence, 0.9)
    assert may_choose(plan, 6, 5.0, quiet)
    assert not may_choose(plan, 5, 5.0, quiet)
    assert may_choose(plan, 3, 31.0, quiet)  # few rounds fit into the time
    assert not may_choose(plan, 2, 31.0, quiet)
    assert may_choose(plan, 3, 5.0, busy)
    assert may_choose(plan, 1, 31.0, busy)
    assert not may_choose(plan, 1, 5.0, busy)
    assert not may_choose(plan, 0, 100.0, busy)


def test_if_the_users_time_is_too_short_for_separate_processes_one_round_is_enough() -> None:
    """A round takes 3 s here, and 6 of them are the least."""
    evidence = under_pressure(waited(known()[1], wall=1.0, cpu=1.0), 0.1)
    plan, short = known()[0], known(time_given=True)[0]
    assert may_choose(replace(short, time_s=20.0), 1, 6.0, evidence)
    assert not may_choose(replace(short, time_s=22.0), 1, 6.0, evidence)
    assert not may_choose(replace(plan, time_s=20.0), 1, 6.0, evidence)


def under(labels: dict[str, float]) -> tuple[Plan, Evidence]:
    """A comparison in a time of 150 s. labels: processor time of each, in units of 2.4 s."""
    stored = compare_run(Script(rounds=12, time=labels, memory=dict.fromkeys(labels, 1.0)))
    plan = replace(known(time_given=True)[0], time_s=150.0)
    return plan, Evidence(replace(stored, run=replace(stored.run, plan=plan)))


def test_a_group_lasts_until_its_slowest_member_has_ended() -> None:
    """Three groups take 23 s, with a slow one more, and the fillers of the last are waited for."""
    even = dict.fromkeys(("glibc", "glibc-control", "mimalloc"), 1.0)
    assert pays(*under(even), 12, 125.0, 0.5)
    assert not pays(*under({**even, "mimalloc": 3.0}), 12, 125.0, 0.5)
    assert not pays(*under(even), 12, 140.0, 0.5)


def test_a_subject_that_is_slow_each_time_makes_a_group_long() -> None:
    even = dict.fromkeys(("glibc", "glibc-control", "mimalloc", "jemalloc", "scudo"), 1.0)
    assert pays(*under(even), 12, 115.0, 0.5)
    assert not pays(*under({**even, "scudo": 6.0}), 12, 115.0, 0.5)


def test_a_gate_counts_on_the_rest_of_its_time_alone() -> None:
    """As many rounds as it needs for its first look end late: a comparison would begin them."""
    plan, evidence = under(dict.fromkeys(("glibc", "glibc-control", "mimalloc"), 1.0))
    gate = replace(plan, options=replace(plan.options, gate=GateOptions({"time": 0.03})))
    round_s = together._round_s(plan, evidence)
    late_s = plan.time_s - (FIRST_LOOK - 0.5) * round_s
    assert pays(gate, evidence, 6, late_s - round_s, 0.5)
    assert not pays(gate, evidence, 6, late_s, 0.5)


def test_a_process_that_was_disturbed_once_does_not_make_its_subject_slow() -> None:
    names = ("glibc", "glibc-control", "mimalloc", "jemalloc", "scudo")
    plan, evidence = under(dict.fromkeys(names, 1.0))
    last = evidence.stored.processes[-1]
    slow = replace(last, facts=structs.replace(last.facts, user_s=9.0, wall_s=9.5))
    processes = [*evidence.stored.processes[:-1], slow]
    assert pays(plan, Evidence(replace(evidence.stored, processes=processes)), 12, 125.0, 0.5)


def test_a_busy_machine_does_not_finish_the_first_round() -> None:
    plan, evidence = known()
    assert may_leave(plan, 31.0, under_pressure(evidence, 0.9))
    assert not may_leave(plan, 29.0, under_pressure(evidence, 0.9))
    assert not may_leave(plan, 31.0, under_pressure(evidence, 0.1))


def test_a_user_who_asks_for_side_by_side_gets_it_after_one_round() -> None:
    plan, evidence = known(side_by_side=True)
    quiet = under_pressure(evidence, 0.1)
    assert may_choose(plan, 1, 5.0, quiet)
    assert not may_choose(plan, 0, 5.0, quiet)


def test_a_program_that_waits_on_a_quiet_machine_keeps_its_time() -> None:
    plan, evidence = known()
    processes = [
        replace(p, facts=replace_times(p.facts, cpu=0.3 * float(p.facts.wall_s or 0)))
        for p in evidence.stored.processes
    ]
    waiting = Evidence(replace(evidence.stored, processes=processes))
    assert not pays(plan, under_pressure(waiting, 0.1), 12, 30.0, 0.05)
    assert pays(plan, under_pressure(waiting, 0.9), 12, 30.0, 0.05)


def test_groups_fit_into_half_of_the_memory_that_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    _, evidence = known()
    peak = max(float(p.facts.peak_rss_bytes or 0) for p in evidence.stored.processes)
    for factor, expected in ((100, MOST_BESIDE), (8, 3), (4, 1), (2, 0)):
        monkeypatch.setattr(together, "available_bytes", lambda factor=factor: factor * peak)
        assert most_beside(evidence) == expected


def test_settled_rows_leave_the_groups() -> None:
    plan, evidence = known()
    experiments = evidence.stored.run.experiments
    (everything,) = steps_together(plan, experiments, 9, lambda row: False)
    assert everything.subject.baseline
    assert {s.name for s in everything.beside} == {"glibc-control", "mimalloc"}
    assert steps_together(plan, experiments, 9, lambda row: row[1] == "mimalloc") == []
    alone = replace(plan, options=PlanOptions(most_beside=1))
    assert len(steps_together(alone, experiments, 9, lambda row: False)) == 2


@pytest.mark.parametrize(
    ("build", "options", "words"),
    [
        ({"prepare": "sync"}, {}, "commands run before"),
        ({"cleanup": "rm x"}, {}, "commands run before"),
        ({}, {"check": "test -e x"}, "a check runs"),
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
