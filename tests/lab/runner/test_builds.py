"""Several builds in one comparison: what the plan makes of them, and what it measures."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heapwise.catalog import installed_peers
from heapwise.errors import Problem
from heapwise.evidence import Evidence, calls_of, comparisons_of
from heapwise.model import Build, Plan, Process, telling_names
from heapwise.runner import CompareRequest, Progress, Step, prepare_compare, resume, start
from heapwise.runner.executors.program import program_executor
from heapwise.store import StoredRun, read_run
from heapwise.trust.judge import check_run

pytestmark = pytest.mark.usefixtures("built_native")


class Silent:
    def begin(self, run: Any) -> None: ...

    def step(self, step: Step, progress: Progress) -> None: ...

    def done(self, process: Process) -> None: ...

    def dropped(self, subject: str, reason: str) -> None: ...


def measured(store: Path, request: CompareRequest) -> StoredRun:
    campaign = start(prepare_compare(request, os.environ), store, ["heapwise"], Silent())
    try:
        run = campaign.go()
    finally:
        campaign.writer.close()
    return read_run(store, run.id)


def two(old: Sequence[str], new: Sequence[str], **options: Any) -> CompareRequest:
    return CompareRequest(
        builds=[Build("old", list(old)), Build("new", list(new))],
        **{"rounds": 6, "seed": 1} | options,
    )


def names(plan: Plan) -> list[str]:
    return [subject.name for subject in plan.subjects]


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str, str], str]:
    def write(name: str, body: str) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path)

    return write


def test_builds_without_allocators_keep_the_malloc_that_they_have() -> None:
    plan = prepare_compare(two(["echo", "a"], ["true"]), os.environ).plan
    assert names(plan) == ["old", "old-control", "new"]
    assert [s.peer for s in plan.subjects] == [None] * 3
    assert [s.baseline for s in plan.subjects] == [True, False, False]
    assert plan.build_of("new").name == "new"
    assert plan.build_of("old-control").command == plan.command
    old = plan.build_named("old")
    assert Path(old.program).is_absolute()
    assert len(old.sha256) == 64
    assert len(old.build_id) >= 32
    assert old.as_typed == ["echo", "a"]


def test_builds_times_allocators_share_one_plan() -> None:
    if "jemalloc" not in {peer.name for peer in installed_peers()}:
        pytest.fail("this test compares with jemalloc: install libjemalloc2")
    plan = prepare_compare(two(["echo"], ["true"], allocators=["jemalloc"]), os.environ).plan
    assert names(plan) == [
        "old@glibc",
        "old@glibc-control",
        "old@jemalloc",
        "new@glibc",
        "new@jemalloc",
    ]
    other = two(["echo"], ["true"], allocators=["jemalloc"], baseline="new@jemalloc")
    assert names(prepare_compare(other, os.environ).plan)[:2] == [
        "new@jemalloc",
        "new@jemalloc-control",
    ]


def test_the_baseline_can_be_another_build() -> None:
    plan = prepare_compare(two(["echo"], ["true"], baseline="new"), os.environ).plan
    assert names(plan) == ["new", "new-control", "old"]
    assert plan.command == plan.build_named("new").command


def test_one_program_keeps_its_rows_and_is_a_build_without_a_name() -> None:
    plan = prepare_compare(CompareRequest(command=["echo", "x"]), os.environ).plan
    assert names(plan)[:2] == ["glibc", "glibc-control"]
    assert [build.name for build in plan.builds] == [""]
    assert plan.builds[0].command == plan.command


def test_a_plan_of_an_earlier_version_has_the_one_program_of_its_command() -> None:
    plan = prepare_compare(CompareRequest(command=["echo", "x"]), os.environ).plan
    document = msgspec.to_builtins(plan)
    del document["builds"]
    for subject in document["subjects"]:
        del subject["build"]
    old = msgspec.convert(document, Plan)
    assert old.build_of("glibc").command == plan.command


@pytest.mark.parametrize(
    ("builds", "parameters", "words"),
    [
        ([("a", "echo"), ("a", "true")], {}, "two builds are called a"),
        ([("a@b", "echo"), ("c", "true")], {}, "cannot name a build"),
        ([("a/b", "echo"), ("c", "true")], {}, "cannot name a build"),
        ([("a-control", "echo"), ("c", "true")], {}, "cannot name a build"),
        ([("a", "echo"), ("b", "")], {}, "the command of b is empty"),
        ([("a", "echo"), ("b", "true")], {"n": [1]}, "no command has {n}"),
        ([("a", "echo {n}"), ("b", "true")], {"n": [1, 1]}, "each value has to be given once"),
        ([("a", "echo {round}"), ("b", "true")], {"round": [1]}, "number of the round"),
    ],
)
def test_builds_that_cannot_be_told_apart_are_reported(
    builds: list[tuple[str, str]], parameters: dict[str, list[Any]], words: str
) -> None:
    request = CompareRequest(
        builds=[Build(name, text.split()) for name, text in builds], parameters=parameters
    )
    with pytest.raises(Problem) as found:
        prepare_compare(request, os.environ)
    assert found.value.id == "E003"
    assert words in found.value.what


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        (["sleep 1", "sleep 2"], ["sleep 1", "sleep 2"]),
        (["./old/app x", "./new/app x"], ["old", "new"]),
        (["/b/old/app", "/b/new/app"], ["old", "new"]),
        (["true", "/bin/true"], ["true", "bin"]),
        (["./app", "/opt/new/app"], ["app", "opt"]),
        (["rg a@b", "grep a@b"], ["rg a_b", "grep a_b"]),
        (["app x", "app x"], ["1", "2"]),
        (["ls /", "ls /tmp/"], ["ls root", "ls tmp"]),
        (["a --out=/tmp/x", "a --out=/tmp/y"], ["a --out=x", "a --out=y"]),
    ],
)
def test_names_of_commands_are_short_and_tell_them_apart(
    commands: list[str], expected: list[str]
) -> None:
    assert telling_names([command.split() for command in commands]) == expected


def test_a_name_keeps_the_words_between_two_paths() -> None:
    """A word of a command may be a line for a shell."""
    lines = [["sh", "-c", "readlink /proc/self/fd/1 >/dev/null; exit 1"], ["sh", "-c", "exit 0"]]
    assert telling_names(lines) == ["sh -c readlink 1 >null; exit 1", "sh -c exit 0"]


def test_rounds_hold_every_build_in_every_cell(tmp_path: Path) -> None:
    request = two(
        ["echo", "{word}"],
        ["printf", "%s\n", "{word}"],
        parameters={"word": ["a", "b"]},
        rounds=6,
        warm_up=1,
    )
    stored = measured(tmp_path, request)
    samples = {
        (s.round, s.subject, s.parameters["word"]) for s in stored.samples if 1 <= s.round <= 6
    }
    assert samples == {
        (r, s, w) for r in range(1, 7) for s in ("old", "old-control", "new") for w in ("a", "b")
    }
    evidence = Evidence(stored)
    assert all(
        comparisons_of(evidence).ratio((cell, "new"), (cell, "old"))[0]
        for cell in evidence.table
        if cell.quantity == "wall_time"
    )
    [same_work] = [c for c in check_run(evidence).checks if c.id == "V8"]
    assert same_work.verdict == "pass", same_work.detail


def test_each_build_must_repeat_its_own_output_and_a_difference_is_reported(tmp_path: Path) -> None:
    stored = measured(tmp_path, two(["echo", "a"], ["echo", "b"]))
    assert {p.status for p in stored.processes} == {"ok"}
    [check] = [c for c in check_run(Evidence(stored)).checks if c.id == "V8"]
    assert check.verdict == "warn"
    assert check.detail.startswith("new: not the output")


def test_the_number_of_the_round_is_filled_in(tmp_path: Path, script: Any) -> None:
    seen = tmp_path / "seen"
    program = script("program", f'echo "$1" >> {seen}')
    measured(tmp_path, two([program, "{round}"], ["true"], warm_up=0))
    numbers = sorted({int(word) for word in seen.read_text().split()})
    # On a busy machine a round is measured again.
    assert numbers == list(range(-1, max(5, numbers[-1]) + 1))


def test_a_build_that_fails_ends_the_comparison(tmp_path: Path) -> None:
    with pytest.raises(Problem) as found:
        measured(tmp_path, two(["true"], ["false"]))
    assert found.value.id == "E030"
    assert "new (" in found.value.what


def test_every_build_is_watched_for_a_change(tmp_path: Path, script: Any) -> None:
    old, new = script("old", "exit 0"), script("new", "exit 0")
    stored = measured(tmp_path, two([old], [new]))
    assert stored.run.plan.options.files is not None
    assert {"program of old", "program of new"} <= set(stored.run.plan.options.files)
    script("new", "exit 0 # another")
    with pytest.raises(Problem) as found:
        resume(stored.path, lambda plan: plan, Silent(), program_executor)
    assert found.value.id == "E032"


def test_a_program_named_by_a_parameter_is_watched_in_each_cell(
    tmp_path: Path, script: Any
) -> None:
    script("run-1", "echo 1")
    script("run-2", "echo 2")
    stored = measured(
        tmp_path, two([str(tmp_path / "run-{n}")], ["echo", "{n}"], parameters={"n": [1, 2]})
    )
    assert stored.run.plan.options.files is not None
    watched = [Path(state.path).name for state in stored.run.plan.options.files.values()]
    assert {"run-1", "run-2", "echo"} <= set(watched)


def test_calls_are_compared_within_a_build_alone(tmp_path: Path) -> None:
    stored = measured(tmp_path, two(["echo", "a"], ["/bin/sh", "-c", "echo a"]))
    evidence = Evidence(stored)
    assert {frozenset(counts.requests) for counts in calls_of(evidence).all_counts} == {
        frozenset({"old"}),
        frozenset({"new"}),
    }
    assert not any(map(calls_of(evidence).hardly_allocates, calls_of(evidence).demands))
