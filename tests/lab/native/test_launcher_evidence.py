"""What the launcher measures around a program, against programs of known work."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

WORKER = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** words) {
  long amount = atol(words[2]);
  if (words[3] != NULL && fork() != 0) return wait(NULL) < 0;
  if (strcmp(words[1], "touch") == 0) {
    long page = sysconf(_SC_PAGESIZE);
    char* bytes = mmap(NULL, amount * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
    madvise(bytes, amount * page, MADV_NOHUGEPAGE);
    for (long i = 0; i < amount; ++i) bytes[i * page] = 1;
  }
  if (strcmp(words[1], "sleep") == 0) {
    for (long i = 0; i < amount; ++i) usleep(100);
  }
  if (strcmp(words[1], "count") == 0) {
    for (long i = 0; i < amount; ++i) __asm__ volatile("" : : : "memory");
  }
  return count < 3;
}
"""
Counted = Callable[..., int]


@pytest.fixture(scope="session")
def worker(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("worker")
    (folder / "worker.c").write_text(WORKER)
    subprocess.run(
        ["cc", "-O1", str(folder / "worker.c"), "-o", str(folder / "worker")], check=True
    )
    return str(folder / "worker")


@pytest.fixture
def counted(launch: Any, worker: str) -> Counted:
    """How much more of ``name`` was counted for ``amount`` than for none of it."""

    def start(name: str, deed: str, amount: int, *more: str) -> int:
        values = []
        for each in (amount, 0):
            result = launch(worker, deed, str(each), *more)
            found = {c["name"]: c for c in result["counters"]}
            if name not in found:
                assert name in result["counters_missing"]
                pytest.skip(result["counters_missing"])
            assert 0 < found[name]["running_ns"] <= found[name]["enabled_ns"]
            values.append(found[name]["value"])
        return int(values[0] - values[1])

    return start


@pytest.mark.parametrize("where", [[], ["in a child"]])
def test_page_faults_are_those_of_the_pages_touched(counted: Counted, where: list[str]) -> None:
    assert 19_900 <= counted("page_faults", "touch", 20_000, *where) <= 20_200


@pytest.mark.parametrize("where", [[], ["in a child"]])
def test_each_sleep_is_a_context_switch(counted: Counted, where: list[str]) -> None:
    """At least: others may take the processor too."""
    assert counted("context_switches", "sleep", 300, *where) >= 250


def test_instructions_are_those_of_the_loop(counted: Counted) -> None:
    assert 100_000_000 <= counted("instructions", "count", 50_000_000) <= 300_000_000


def test_counters_that_are_missing_are_named_with_the_reason(launch: Any, toy: str) -> None:
    result = launch(toy, "exit", "0")
    names = [
        "instructions",
        "cycles",
        "dtlb_misses",
        "page_faults",
        "context_switches",
        "migrations",
    ]
    open_ = [c["name"] for c in result["counters"]]
    missing = [name for name in names if name not in open_]
    assert (result["counters_missing"] is None) == (missing == [])
    for name in missing:
        assert name in result["counters_missing"]


def test_launchers_own_work_is_not_counted(launch: Any) -> None:
    """The counters start with the program: this one dies before it can take a page of its own."""
    counters = launch("/nonexistent")["counters"]
    assert all(c["value"] == 0 and c["enabled_ns"] == 0 for c in counters)


def test_every_processor_that_the_program_may_use_is_looked_at(launch: Any, toy: str) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    seen = launch(toy, "exit", "0")["processors"]
    assert {p["cpu"] for p in seen} <= set(allowed)
    assert len(seen) == min(len(allowed), 16)
    for each in seen:
        assert all(
            each[f"{name}_{when}_ns"] > 0
            for name in ("spin", "breadth")
            for when in ("before", "after")
        )


def test_pinned_program_is_looked_at_where_it_is_pinned(launch: Any, toy: str) -> None:
    for cpu in sorted(os.sched_getaffinity(0))[:2]:
        result = launch(toy, "exit", "0", options=["--cpus", str(cpu)])
        (seen,) = result["processors"]
        assert seen["cpu"] == cpu
        assert result["spin_before_ns"] == seen["spin_before_ns"]
        assert result["affinity"] == [cpu]


def test_processor_that_is_not_there_is_not_looked_at(launch: Any, toy: str) -> None:
    assert launch(toy, "exit", "0", options=["--cpus", "1000"])["processors"] == []


@pytest.fixture
def slow_group() -> Iterator[Path]:
    """A control group of ours with a tenth of a processor."""
    name = f"heapwise-test-{os.getpid()}"
    for root, limit, quota in (
        ("/sys/fs/cgroup", "cpu.max", "10000 100000"),
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "10000"),
    ):
        if not Path(root, "cgroup.procs").exists():
            continue
        group = Path(root, name)
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if (group / limit).exists():
                (group / limit).write_text(quota)
                yield group
                return
        finally:
            group.rmdir()
    pytest.skip("no control group with a limit can be made here")


def test_throttling_by_a_control_group_is_seen(
    slow_group: Path, native: Path, toy: str, tmp_path: Path
) -> None:
    result = tmp_path / "result"
    inner = slow_group / "inner"
    inner.mkdir()
    try:
        subprocess.run(
            [
                "/bin/sh",
                "-c",
                f'echo $$ >{inner}/cgroup.procs; exec "$@"',
                "sh",
                str(native / "heapwise-launch"),
                "--result",
                str(result),
                "--",
                toy,
                "spin",
                "1500",
            ],
            check=True,
            timeout=120,
        )
    finally:
        inner.rmdir()
    seen = json.loads(result.read_text())
    assert seen["throttled_periods"] >= 3
    assert seen["throttled_us"] > 100_000


AS_A_CONTAINER = """
group=$1; root=${group%/*}; shift
echo $$ >$group/cgroup.procs
exec unshare --cgroup --mount sh -c '
  mount --bind "$0" "$1"; root=$1; shift
  grep -Eq "(^0:|:cpu(,cpuacct)?):/$" /proc/self/cgroup || exit 77
  exec "$@"' "$group" "$root" "$@"
"""


def test_throttling_by_the_group_at_the_root_is_counted_once(
    slow_group: Path, native: Path, toy: str, tmp_path: Path
) -> None:
    """A container sees its own group as "/", and finds its files where the groups are mounted."""
    result = tmp_path / "result"
    done = subprocess.run(
        [
            "/bin/sh",
            "-c",
            AS_A_CONTAINER,
            "sh",
            str(slow_group),
            str(native / "heapwise-launch"),
            "--result",
            str(result),
            "--",
            toy,
            "spin",
            "1500",
        ],
        timeout=120,
    )
    if done.returncode != 0 and not result.exists():
        pytest.skip("no namespaces of groups and mounts can be made here")
    lines = (slow_group / "cpu.stat").read_text().splitlines()
    whole = next(int(line.split()[1]) for line in lines if line.startswith("nr_throttled "))
    assert 3 <= json.loads(result.read_text())["throttled_periods"] <= whole


def test_program_without_a_limit_is_not_throttled(launch: Any, toy: str) -> None:
    seen = launch(toy, "exit", "0")
    assert seen["throttled_periods"] in (None, 0)
    assert (seen["throttled_us"] is None) == (seen["throttled_periods"] is None)
