"""What two runs have to have in common: contents and not names of files, places and hardware."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from synthetic import compare_run

from heapwise.model import (
    Build,
    FileState,
    Plan,
    Revision,
    command_at,
    hardware,
    location_of,
    place_of,
    unlike_work,
)


def plan_with(sha256: str = "", path: str = "/x/in.txt", **changes: Any) -> Plan:
    plan = compare_run().run.plan
    files = {"input": FileState(path, 1, 1, sha256)} if sha256 else None
    return replace(plan, input_path=path, options=replace(plan.options, files=files), **changes)


def test_an_input_is_its_contents_and_not_its_path() -> None:
    assert unlike_work(plan_with("aa"), plan_with("bb")) == ["the contents of the input"]
    assert unlike_work(plan_with("aa"), plan_with("aa", "/y/other.txt")) == []
    assert unlike_work(plan_with(), plan_with(path="/y/other.txt"))  # nothing is known of either


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"smoke": True}, "the length of the work"),
        ({"builds": [Build("", ["prog", "--more"])]}, "the arguments"),
        (
            {"builds": [Build("", compare_run().run.plan.command, setup="make data")]},
            "the commands",
        ),
    ],
)
def test_other_work_is_named(change: dict[str, Any], said: str) -> None:
    [found] = unlike_work(plan_with("aa"), plan_with("aa", **change))
    assert said in found


def test_a_machine_is_its_hardware_unless_it_has_a_name() -> None:
    machine = compare_run().run.machine
    assert len({hardware(replace(machine, host=name)) for name in ("runner-1", "runner-2")}) == 1
    assert hardware(replace(machine, cores=99)) != hardware(machine)
    more = int(machine.memory_bytes) + (9 << 30)
    assert hardware(replace(machine, memory_bytes=more)) != hardware(machine)
    assert hardware(replace(machine, name="bench")) == "bench"


def test_a_command_is_of_its_repository_and_its_place_there() -> None:
    revision = Revision("1" * 40, "", repository="https://example.org/a.git", top="/home/me/a")
    clone = Revision("2" * 40, "", repository="https://example.org/a.git", top="/builds/77/a")
    here, there = (
        replace(plan_with(), working_directory=f"{one.top}/bench") for one in (revision, clone)
    )
    assert place_of(here, revision) == place_of(there, clone) == "https://example.org/a.git bench"
    assert location_of(here, Build("", ["./prog"]), revision) == "bench/prog"
    assert location_of(here, Build("", ["../prog"]), revision) == "prog"
    assert location_of(here, Build("", ["../../x"]), revision) == ""
    assert place_of(here, None) == "/home/me/a/bench"
    for top, one in (("/home/me/a", revision), ("/builds/77/a", clone)):
        assert command_at(Build("", [f"{top}/prog", "1"]), one) == "prog 1"
    assert command_at(Build("", ["/usr/bin/sort", "1"]), revision) == "/usr/bin/sort 1"
