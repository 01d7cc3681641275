"""The small parts of a campaign: order, environment, identity, judgement, end."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from synthetic import Script, compare_run

from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.evidence.identity import own_allocators
from heapwise.model import (
    Beside,
    Calls,
    CountLine,
    Experiment,
    Identity,
    Library,
    Parameter,
    Peer,
    Plan,
    PlanOptions,
    ProcessFacts,
    ProgramSpec,
    Quantity,
    Subject,
    SubjectSpec,
)
from heapwise.runner.campaign.precision import reason_to_stop, widest_half_width
from heapwise.runner.campaign.steps import (
    cells,
    key_of,
    reference_steps,
    steps_of_round,
    steps_together,
)
from heapwise.runner.executors.counting import with_totals
from heapwise.runner.plan.experiment_plan import parse_settings, resolve
from heapwise.runner.process import environment
from heapwise.runner.process.identity import loader_refusal, read_lines, wrong_library
from heapwise.runner.process.launch import Outcome
from heapwise.runner.process.process_status import Reference, judge

GLIBC = Peer("glibc", "glibc", "system", "", "2.36", "aa", "", "", ["GLIBC_TUNABLES", "MALLOC_"])
MIMALLOC = Peer(
    "mimalloc", "mimalloc", "preload", "/lib/libmimalloc.so.2", "2", "bb", "", "", ["MIMALLOC_"]
)


def plan_of(**changes: Any) -> Plan:
    subjects = [
        Subject("glibc", "", GLIBC, baseline=True),
        Subject("glibc-control", "", GLIBC, control=True),
        Subject("mimalloc", "", MIMALLOC),
    ]
    plan = Plan("compare", ["true"], ["compare"], {}, subjects, 42, 6, 0, 10.0, 0.01, 1, 0.0)
    return replace(plan, **changes)


def experiment(**changes: Any) -> Experiment:
    names = ["glibc", "mimalloc"]
    found = Experiment(
        1,
        "compare",
        "compare",
        "?",
        "",
        "",
        [],
        [Quantity("wall_time", "s", "lower")],
        [SubjectSpec(name, "inline", name) for name in names],
        "glibc",
        1,
        0,
    )
    return replace(found, **changes)


def test_a_round_has_every_subject_once_in_an_order_of_its_own() -> None:
    plan = plan_of()
    orders = set()
    for round in range(1, 30):
        names = [step.subject.name for step in steps_of_round(plan, [experiment()], round)]
        assert Counter(names) == Counter(["glibc", "glibc-control", "mimalloc"])
        orders.add(tuple(names))
    assert len(orders) == 6, "29 rounds of 3 subjects show all 6 orders"
    again = steps_of_round(plan, [experiment()], 7)
    assert [s.key for s in again] == [s.key for s in steps_of_round(plan, [experiment()], 7)]


def test_each_group_of_a_round_is_done_by_itself() -> None:
    """The baseline is in each of them, and what ran by itself is another process."""
    plan = plan_of()
    plan = replace(plan, options=replace(plan.options, most_beside=1))
    steps = steps_together(plan, [experiment()], 4, lambda row: False)
    assert len({step.key for step in steps}) == len(steps) == 2
    [group] = [step for step in steps if step.beside[0].name == "mimalloc"]
    beside = ProcessFacts(beside=Beside())
    ran = replace(group, subject=group.beside[0]).process(1, "", "ok", "")
    assert key_of(replace(ran, facts=beside)) == group.key
    assert key_of(ran) != group.key


def test_the_first_round_begins_with_the_baseline_and_warms_up() -> None:
    steps = steps_of_round(plan_of(), [experiment()], 0)
    assert [s.subject.name for s in steps[:2]] == ["glibc", "glibc-control"]
    assert all(step.warm_up for step in steps)
    assert not any(step.warm_up for step in steps_of_round(plan_of(), [experiment()], 1))


def test_a_first_round_that_counts_has_a_random_order() -> None:
    orders = {
        tuple(
            step.subject.name
            for step in steps_of_round(plan_of(warm_up_rounds=0, seed=seed), [experiment()], 0)
        )
        for seed in range(30)
    }
    assert len(orders) == 6


def test_cells_are_crossed_and_settings_replace_values() -> None:
    two = experiment(
        parameters=[Parameter("size", "", [8, 64], [8]), Parameter("threads", "", [1, 2], [1])]
    )
    assert len(cells(two, plan_of())) == 4
    assert cells(two, plan_of(smoke=True)) == [{"size": 8, "threads": 1}]
    assert cells(two, plan_of(parameters={"size": [5], "threads": [1]})) == [
        {"size": 5, "threads": 1}
    ]


def test_settings_take_the_type_of_the_default() -> None:
    typed = experiment(
        parameters=[
            Parameter("size", "", [8], [8]),
            Parameter("share", "", [0.5], [0.5]),
            Parameter("grow", "", [True], [True]),
            Parameter("order", "", ["lifo"], ["lifo"]),
        ]
    )
    found = parse_settings(["size=1,2", "share=1", "grow=false", "order=a,b"], [typed])
    assert found == {"size": [1, 2], "share": [1.0], "grow": [False], "order": ["a", "b"]}
    for bad in ("size=1.5", "grow=maybe", "share=x", "size="):
        with pytest.raises(Problem):
            parse_settings([bad], [typed])


@pytest.mark.parametrize(
    ("setting", "what", "do"),
    [
        ("order=fifo,lifo", "'fifo' is not a value that a has", "name one of lifo, random"),
        ("order=randm", "did you mean random?", "name one of lifo, random"),
        ("size=64,7", "7 is too little for a", "give 8 or more"),
        ("share=-0.5", "-0.5 is too little for a", "give 0 or more"),
        ("share=nan", "nan is beyond", ""),
        ("share=inf", "inf is beyond", ""),
        ("size=99999999999999999999", "is beyond", ""),
    ],
)
def test_a_value_that_an_experiment_would_refuse_is_refused(
    setting: str, what: str, do: str
) -> None:
    """By the first experiment that does, of several that have the parameter."""
    one = experiment(
        id="a",
        parameters=[
            Parameter("size", "", [8], [8], least=8),
            Parameter("share", "", [0.5], [0.5], least=0),
            Parameter("order", "", ["lifo"], ["lifo"], choices=["lifo", "random"]),
        ],
    )
    other = experiment(
        id="b",
        parameters=[
            Parameter("size", "", [8], [8], least=0),
            Parameter("share", "", [0.5], [0.5]),
            Parameter("order", "", ["fifo"], ["fifo"], choices=["fifo", "lifo", "randm"]),
        ],
    )
    for experiments in ([one], [one, other], [other, one]):
        with pytest.raises(Problem) as refused:
            parse_settings([setting], experiments)
        assert refused.value.id == "E003"
        assert what in refused.value.what
        assert do in refused.value.do
    assert parse_settings(["order=lifo", "size=8"], [one, other]) == {
        "order": ["lifo"],
        "size": [8],
    }


def test_malloc_becomes_one_subject_per_peer() -> None:
    declared = experiment(
        subjects=[
            SubjectSpec("pool", "inline", ""),
            SubjectSpec("malloc", "malloc", ""),
            SubjectSpec("boost", "inline", "", available=False, reason="not built"),
        ],
        baseline="malloc",
    )
    resolved = resolve(declared, [GLIBC, MIMALLOC])
    assert [s.name for s in resolved.subjects] == ["pool", "malloc@glibc", "malloc@mimalloc"]
    assert resolved.baseline == "malloc@glibc"


USERS = {
    "PATH": "/bin",
    "MALLOC_ARENA_MAX": "1",
    "MIMALLOC_X": "1",
    "LD_PRELOAD": "/x.so",
    "LD_LIBRARY_PATH": "/lib",
    "LD_AUDIT": "/y.so",
    "LDAP": "no",
    "HEAPWISE_STORE": "/s",
    "GITHUB_TOKEN": "secret",
}


def test_the_environment_is_cleaned() -> None:
    """V20."""
    left, removed = environment.cleaned(USERS, ["MALLOC_", "MIMALLOC_"])
    assert left == {
        "PATH": "/bin",
        "LDAP": "no",
        "GITHUB_TOKEN": "secret",
        "LD_LIBRARY_PATH": "/lib",
    }
    assert removed == ["LD_AUDIT", "LD_PRELOAD", "MALLOC_ARENA_MAX", "MIMALLOC_X"]
    kept, nothing = environment.cleaned(USERS, ["MALLOC_", "MIMALLOC_"], keep=True)
    assert nothing == []
    assert kept["MALLOC_ARENA_MAX"] == "1"
    assert "HEAPWISE_STORE" not in kept


def test_our_own_allocator_is_tuned_by_nobody_either() -> None:
    """V20: its variables are treated like a peer's, the laboratory's own are not mentioned."""
    stats = {"HEAPWISE_MALLOC_STATS": "1"}
    users = stats | {"HEAPWISE_STORE": "/s"}
    assert environment.cleaned(users, ["HEAPWISE_MALLOC_"]) == ({}, ["HEAPWISE_MALLOC_STATS"])
    assert environment.cleaned(users, ["HEAPWISE_MALLOC_"], keep=True) == (stats, [])


def test_secrets_are_not_stored_and_come_back() -> None:
    stored = environment.to_store({"GITHUB_TOKEN": "secret", "PATH": "/bin"})
    assert stored == {"GITHUB_TOKEN": environment.HIDDEN, "PATH": "/bin"}
    assert environment.from_store(stored, {"GITHUB_TOKEN": "new"})["GITHUB_TOKEN"] == "new"


@pytest.mark.parametrize(
    "name",
    [
        "DATABASE_URL",
        "ORDERS_DSN",
        "AWS_ACCESS_KEY_ID",
        "MYSQL_PWD",
        "STRIPE_KEY",
        "GITHUB_PAT",
        "HTTP_COOKIE",
        "LC_TELEPHONE",
        "MIMALLOC_TOKEN",
        "EDITOR",
        "PATHOLOGY",
    ],
)
def test_only_values_that_matter_are_stored(name: str) -> None:
    users = {name: "x", "LANG": "C", "LD_LIBRARY_PATH": "/x", "MIMALLOC_VERBOSE": "1"}
    stored = environment.to_store(users, ["MIMALLOC_"])
    assert stored == users | {name: environment.HIDDEN}


def test_a_variable_that_is_gone_is_not_made_up() -> None:
    stored = environment.to_store({"EDITOR": "vi", "LANG": "C"})
    assert environment.from_store(stored, {}) == {"LANG": "C"}


def test_marks_recognise_a_value_and_depend_on_the_key() -> None:
    users = {"PIN": "1234", "LANG": "C"}
    stored = environment.to_store(users)
    first = environment.marks(stored, users, b"key one")
    assert set(first) == {"PIN"}
    assert environment.marks(stored, users, b"key one") == first
    assert environment.marks(stored, users | {"PIN": "1235"}, b"key one") != first
    assert environment.marks(stored, users, b"key two") != first


def test_padding_differs_by_process_and_repeats_by_seed() -> None:
    lengths = [len(environment.padding(1, number)) for number in range(200)]
    assert lengths == [len(environment.padding(1, number)) for number in range(200)]
    assert len(set(lengths)) > 150
    assert max(lengths) < environment.PADDING_BYTES


def line(path: str, build_id: str = "", exe: str = "/bin/x") -> Identity:
    return Identity(exe=exe, malloc=Library(path=path, build_id=build_id))


def test_identity_by_build_id_then_by_name() -> None:
    """V1."""
    assert wrong_library([line("/elsewhere/lib.so", "bb")], MIMALLOC, set()) == ""
    assert "came from /lib/libc.so.6" in wrong_library(
        [line("/lib/libc.so.6", "aa")], MIMALLOC, set()
    )
    assert wrong_library([line("/lib/libmimalloc.so.2")], MIMALLOC, set()) == ""
    assert wrong_library([line("/lib/libc.so.6")], GLIBC, set()) == ""
    assert wrong_library([line("/lib/libjemalloc.so.2")], GLIBC, set()) != ""
    assert "left no line" in wrong_library([], GLIBC, set())
    assert wrong_library([Identity(exe="/bin/x")], GLIBC, set()) != ""


def test_a_library_that_other_users_may_not_open_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that root starts, and that goes on as another user."""
    library = tmp_path / "peers" / "libmimalloc.so.2"
    library.parent.mkdir(mode=0o700)
    library.touch()
    library.chmod(0o644)  # whatever the umask is
    other = [line("/lib/libc.so.6", "aa")]
    monkeypatch.setattr("os.geteuid", lambda: 0)
    peer = replace(MIMALLOC, path=str(library))
    assert f"other users may not open {library.parent}:" in wrong_library(other, peer, set())
    assert "other users" not in wrong_library(other, MIMALLOC, set())
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "other users" not in wrong_library(other, peer, set())


def test_every_child_counts_unless_it_always_has_its_own() -> None:
    records = [line("", "bb"), line("/usr/bin/fd", "cc", "/usr/bin/fd")]
    assert "fd" in wrong_library(records, MIMALLOC, set())
    assert wrong_library(records, MIMALLOC, {"/usr/bin/fd"}) == ""
    assert own_allocators([line("", "aa"), line("", "cc", "/usr/bin/fd")], GLIBC) == {"/usr/bin/fd"}


def test_torn_probe_lines_are_not_evidence(tmp_path: Path) -> None:
    file = tmp_path / "probe"
    file.write_bytes(b'{"pid":1,"exe":"a"}\n[2]\n{"pid":2}\n{"pid":"4","exe":"b"}\n{"pid":3,"exe"')
    assert read_lines(file, Identity) == [Identity(pid=1, exe="a")]
    assert read_lines(tmp_path / "none", Identity) == []


def test_the_loaders_words() -> None:
    words = (
        b"ERROR: ld.so: object '/x.so' from LD_PRELOAD cannot be preloaded (invalid ELF "
        b"header): ignored.\nmore"
    )
    assert loader_refusal(b"before\n" + words).endswith("ignored.")
    assert loader_refusal(b"all is well") == ""


FINE = ProcessFacts(exit_code=0, timed_out=False, output_hash="h", wall_s=1.0)


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        ({}, "ok"),
        ({"exit_code": 1}, "failed"),
        ({"output_hash": "g"}, "output_differs"),
        ({"signal": 11, "signal_name": "SIGSEGV", "exit_code": None}, "crashed"),
        ({"timed_out": True, "signal": 9}, "timed_out"),
        ({"start_error": "gone"}, "failed"),
    ],
)
def test_judgement(facts: dict[str, Any], status: str) -> None:
    reference = Reference("h", 0)
    outcome = Outcome(structs.replace(FINE, **facts), [line("", "bb")])
    assert judge(outcome, MIMALLOC, reference)[0] == status


def test_the_wrong_allocator_is_never_ok_and_ignored_output_is() -> None:
    reference = Reference("h", 0, ignore_output=True)
    assert judge(Outcome(structs.replace(FINE, output_hash="g")), None, reference)[0] == "ok"
    assert judge(Outcome(FINE, [line("", "aa")]), MIMALLOC, reference)[0] == "wrong_allocator"


def measured(**values: list[float]) -> Evidence:
    """A comparison in which a subject took these times, one a round; ``glibc`` is the baseline."""
    level = dict.fromkeys(["glibc-control", *values], 1.0)
    whole = compare_run(Script(rounds=12, time=level, memory=level))
    known = {
        (name, round): value
        for name, numbers in values.items()
        for round, value in enumerate(numbers)
    }
    return Evidence(
        replace(
            whole,
            samples=[
                replace(s, values={"wall_time": known[s.subject.removesuffix("-control"), s.round]})
                for s in whole.samples
                if (s.subject.removesuffix("-control"), s.round) in known
            ],
        )
    )


def test_the_stop_rule_waits_for_the_widest_interval() -> None:
    chance = random.Random(3)
    base = [1 + chance.random() / 1000 for _ in range(12)]
    close = [2 * value * (1 + chance.random() / 1000) for value in base]
    loose = [value * (0.75 + chance.random() / 2) for value in base]
    told = [value * (1.5 + chance.random() / 2) for value in base]
    narrow = widest_half_width(measured(glibc=base, a=close))
    assert narrow is not None
    assert narrow < 0.002
    wide = widest_half_width(measured(glibc=base, a=close, b=loose))
    assert wide is not None
    assert wide > 0.02
    assert widest_half_width(measured(glibc=base, a=told)) == 0
    few = widest_half_width(measured(glibc=base[:2], a=close[:2]))
    assert few is None


def test_a_dropped_subject_does_not_keep_the_run_going() -> None:
    base = [1 + n / 10_000 for n in range(12)]
    assert widest_half_width(measured(glibc=base, a=base[::-1], lost=[1.0, 2.0])) is not None


@pytest.mark.parametrize(
    ("changes", "rounds", "elapsed", "width", "stops"),
    [
        ({}, 5, 1.0, 0.001, False),
        ({}, 6, 1.0, 0.001, True),
        ({}, 6, 1.0, 0.02, False),
        ({}, 6, 1.0, None, False),
        ({}, 6, 11.0, None, True),
        ({}, 3, 11.0, None, False),
        ({"options": PlanOptions(time_given=True)}, 3, 11.0, None, True),
        ({"options": PlanOptions(time_given=True)}, 0, 11.0, None, False),
        ({}, 500, 1.0, 0.5, True),
        ({"max_rounds": 4, "min_rounds": 4, "precision": 0.0, "time_s": 0.0}, 4, 1.0, None, True),
        ({"max_rounds": 4, "min_rounds": 4, "precision": 0.0, "time_s": 0.0}, 3, 1e6, None, False),
    ],
)
def test_reason_to_stop(
    changes: dict[str, Any], rounds: int, elapsed: float, width: float | None, stops: bool
) -> None:
    assert bool(reason_to_stop(plan_of(**changes), rounds, elapsed, width)) is stops


@pytest.mark.parametrize(
    ("changes", "rounds", "elapsed", "stops"),
    [
        ({}, 6, 1.0, False),
        ({}, 12, 1.0, True),
        ({}, 6, 11.0, True),
        ({"max_rounds": 4, "min_rounds": 4, "precision": 0.0, "time_s": 0.0}, 4, 1.0, False),
        ({"max_rounds": 4, "min_rounds": 4, "precision": 0.0, "time_s": 0.0}, 8, 1.0, True),
    ],
)
def test_lost_rounds_are_made_up_within_limits(
    changes: dict[str, Any], rounds: int, elapsed: float, stops: bool
) -> None:
    reason = reason_to_stop(plan_of(**changes), rounds, elapsed, 0.001, lost=True)
    assert bool(reason) is stops


def test_counts_of_a_tree_are_added() -> None:
    """V3."""
    assert with_totals(FINE, []) == structs.replace(FINE, counting=True)
    found = with_totals(
        FINE,
        [
            CountLine(
                calls=Calls(malloc=3, free=2),
                bytes_requested=10,
                peak_live=8,
                wall_s=1.0,
                sizes=[1, 2],
            ),
            CountLine(
                calls=Calls(malloc=4), bytes_requested=5, peak_live=5, wall_s=3.0, sizes=[0, 1]
            ),
        ],
    )
    assert found == structs.replace(
        FINE,
        counting=True,
        calls=Calls(malloc=7, free=2),
        bytes_requested=15,
        peak_live_bytes=8,
        counted_wall_s=3.0,
        sizes=[1, 3],
    )


@pytest.mark.parametrize(
    ("kind", "warm_up", "first"), [("compare", 0, ["glibc"]), ("compare", 1, []), ("run", 0, [])]
)
def test_the_baseline_goes_first_uncounted_where_the_first_round_counts(
    kind: str, warm_up: int, first: list[str]
) -> None:
    steps = reference_steps(plan_of(kind=kind, warm_up_rounds=warm_up), [experiment()])
    assert [step.subject.name for step in steps] == first
    assert all(step.warm_up and step.round < 0 for step in steps)


def test_only_programs_that_can_run_are_cells_and_each_has_a_reference_first() -> None:
    programs = [
        ProgramSpec("here", "", ["true"]),
        ProgramSpec("gone", "", [], status="missing"),
        ProgramSpec("too", "", ["true"]),
    ]
    found = experiment(
        id="heap/programs",
        programs=programs,
        parameters=[Parameter("program", "", ["here", "gone", "too"], [])],
    )
    plan = plan_of(kind="run", warm_up_rounds=0)
    assert cells(found, plan) == [{"program": "here"}, {"program": "too"}]
    first = reference_steps(plan, [found, experiment()])
    assert [(s.parameters["program"], s.subject.name, s.warm_up) for s in first] == [
        ("here", "glibc", True),
        ("too", "glibc", True),
    ]
