"""What the launcher says of control groups of version 2, where there are some: in a guest.

The guest is started once. In it the launcher measures programs whose memory is known.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heapwise.model import GroupMemory
from kernel.machine import Ended

pytestmark = pytest.mark.slow

MIB = 1024
"""In KiB."""

SLACK = 6 * MIB
"""Of a program's own start, the kernel's share, and what each processor has taken in advance."""

PARTS = {
    "short": "look {touches} 64 0",
    "unasked": "{launch} --result /tmp/r -- {touches} 1 0; cat /tmp/r",
    "own": "look_until_seen 64",
    "two": "look {touches} 32 1000 fork",
    "file": "look_until_seen 16 /dev/shm/written",
    "limited": "make_group box 48M; delegate box; in_group box/leaf look {touches} 64 500",
    "shared": "make_group open max; in_group open/leaf look_until_seen 64",
    "killed_in_shared": "make_group small 48M; in_group small/leaf look {touches} 64 500",
    "leaf_has_limits": "make_group other max; delegate other; "
    "echo 1G >$groups/other/leaf/memory.max; "
    "in_group other/leaf look {touches} 64 500",
    "left": "find $groups -name 'heapwise-*' | wc -l",
}
"""Name -> what is done in the guest. If that is emulated, looks take long and so are rare: a
program whose memory has to be seen is started again, for longer, until it was."""

FUNCTIONS = """
groups=/sys/fs/cgroup
look() {{ {launch} --memory-moments 64 --timeout 90 --result /tmp/r -- "$@"; cat /tmp/r; }}
look_until_seen() {{
  for ms in 3000 12000 40000; do
    look {touches} $1 $ms $2 >/tmp/seen
    most=$(grep -o '"most_kib":[0-9]*' /tmp/seen | cut -d: -f2)
    [ "${{most:-0}}" -lt $((($1 + ${{2:+8}} + 0) * 1024)) ] || break
  done
  cat /tmp/seen
}}
make_group() {{
  mkdir $groups/$1
  echo +memory >$groups/$1/cgroup.subtree_control
  echo $2 >$groups/$1/memory.max
  mkdir $groups/$1/leaf
}}
delegate() {{ {delegate} $groups/$1; }}
in_group() {{ (echo 0 >$groups/$1/cgroup.procs; shift; "$@"); }}
"""


@pytest.fixture(scope="module")
def results(
    boot: Callable[..., Ended], compiled: Callable[[str], Path], native: Path
) -> dict[str, Any]:
    """What each part printed."""
    files = {
        "launch": native / "heapwise-launch",
        "touches": compiled("touches"),
        "delegate": compiled("delegate"),
    }
    lines = [FUNCTIONS, *(f"echo '== {name}'; {script}" for name, script in PARTS.items())]
    ended = boot("\n".join(lines).format(**files), *files.values())
    assert ended.exit_code == 0, ended.output
    found = {}
    for part in ended.output.split("== ")[1:]:
        name, _, text = part.partition("\n")
        try:
            found[name] = json.loads(text)
        except ValueError:
            pytest.fail(f"{name}: {text}")
    return found


def group_of(result: dict[str, Any]) -> GroupMemory:
    return msgspec.convert(result["group"], GroupMemory)


def test_a_program_has_a_group_of_its_own_and_the_right_peak(results: dict[str, Any]) -> None:
    result = results["own"]
    assert (result["exit_code"], result["group_missing"]) == (0, None)
    assert set(result["group"]) == set(GroupMemory.__struct_fields__)
    group = group_of(result)
    assert group.own
    assert group.peak_kib is not None
    assert 64 * MIB <= group.peak_kib <= 64 * MIB + SLACK
    assert group.most_kib is not None
    assert 64 * MIB <= group.most_kib <= group.peak_kib
    assert (group.limit_kib, group.kills, group.before_kib) == (None, 0, None)


def test_the_parts_are_those_of_the_program(results: dict[str, Any]) -> None:
    group = group_of(results["own"])
    assert group.anonymous_kib is not None
    assert 60 * MIB <= group.anonymous_kib <= 64 * MIB + SLACK  # to a sixteenth
    assert group.kernel_kib is not None
    assert 100 <= group.kernel_kib <= SLACK  # page tables alone take 128 KiB
    assert (group.socket_kib, group.swap_kib) == (0, 0)
    assert group.parts_at_ms is not None
    assert 0 < group.parts_at_ms <= 1000 * results["own"]["wall_s"]


def test_the_way_into_the_group_is_not_the_programs_time(results: dict[str, Any]) -> None:
    result = results["own"]
    assert 0 < group_of(result).entering_us < 1_000_000
    assert result["wall_s"] >= 3


def test_a_program_that_ends_at_once_has_a_peak(results: dict[str, Any]) -> None:
    group = group_of(results["short"])
    assert group.peak_kib is not None
    assert 64 * MIB <= group.peak_kib <= 64 * MIB + SLACK


def test_nobody_makes_a_group_if_nobody_asks(results: dict[str, Any]) -> None:
    assert (results["unasked"]["group"], results["unasked"]["group_missing"]) == (None, None)


def test_all_processes_of_a_program_are_in_its_group(results: dict[str, Any]) -> None:
    group = group_of(results["two"])
    assert group.peak_kib is not None
    assert 64 * MIB <= group.peak_kib <= 64 * MIB + SLACK


def test_files_and_shared_memory_are_told_apart(results: dict[str, Any]) -> None:
    """The file is in a tmpfs: its pages count as those of a file, and as shared memory."""
    group = group_of(results["file"])
    for kib in (group.file_kib, group.shared_memory_kib):
        assert kib is not None
        assert 8 * MIB <= kib <= 9 * MIB
    assert group.anonymous_kib is not None
    assert 14 * MIB <= group.anonymous_kib <= 16 * MIB + SLACK


def test_a_limit_that_kills_the_program_is_reported(results: dict[str, Any]) -> None:
    """In a delegated group whose launcher is in a leaf: the program's group is beside that."""
    result = results["limited"]
    assert result["signal_name"] == "SIGKILL"
    group = group_of(result)
    assert group.own
    assert (group.limit_kib, group.kills) == (48 * MIB, 1)
    assert group.peak_kib is not None
    assert 40 * MIB <= group.peak_kib <= 50 * MIB  # with the page that was refused


def test_without_delegation_the_surrounding_group_is_read(results: dict[str, Any]) -> None:
    result = results["shared"]
    assert result["group_missing"] == "no control group may be made here: none is delegated"
    group = group_of(result)
    assert not group.own
    assert group.entering_us == 0
    assert group.before_kib is not None
    assert group.most_kib is not None
    assert 64 * MIB <= group.most_kib - group.before_kib <= 64 * MIB + SLACK


def test_a_kill_in_the_surrounding_group_is_reported(results: dict[str, Any]) -> None:
    result = results["killed_in_shared"]
    group = group_of(result)
    assert not group.own
    assert (group.limit_kib, group.kills) == (48 * MIB, 1)
    assert result["signal_name"] == "SIGKILL"


def test_a_program_does_not_escape_the_limits_of_its_launcher(results: dict[str, Any]) -> None:
    """Else a container's limit would be lost, and with it what is measured."""
    group = group_of(results["leaf_has_limits"])
    assert not group.own
    assert group.limit_kib == 1024 * MIB


def test_no_group_is_left(results: dict[str, Any]) -> None:
    assert results["left"] == 0
