"""A sandbox refuses system calls to Heapwise and to what it measures: nothing is lost for that."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from warm_start import command

from heapwise.errors import Exit

DENY = Path(__file__).parents[1] / "preload" / "faults" / "deny.c"
# By the numbers of x86-64.
CALLS = {
    "mremap": 25,
    "madvise": 28,
    "sched_getaffinity": 204,
    "ppoll": 271,
    "prlimit64": 302,
    "memfd_create": 319,
}
UNREPLACED = {"clock_nanosleep": (230, "time.sleep"), "clone3": (435, "no thread can be started")}
"""Calls that Heapwise cannot be without -> their numbers, and what an error then names."""
ERRORS = [errno.EPERM, errno.ENOSYS]

pytestmark = [
    pytest.mark.usefixtures("built_native"),
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="written for x86-64's system calls"),
]

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *none) {
  for (int i = 0; i < 1000; ++i) { void *volatile block = malloc(64); free(block); }
  return none;
}
int main(void) {
  work(0);
  if (fork() == 0) { work(0); _exit(0); }
  wait(0);
  pthread_t thread;
  if (pthread_create(&thread, 0, work, 0) || pthread_join(thread, 0)) return 3;
  return 0;
}
"""

Denied = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("refused")
    (folder / "work.c").write_text(SOURCE)
    for source in (DENY, folder / "work.c"):
        subprocess.run(
            ["gcc", "-O1", "-pthread", str(source), "-o", str(folder / source.stem)], check=True
        )
    return folder


@pytest.fixture
def denied(programs: Path, environment: dict[str, str], tmp_path: Path) -> Denied:
    """Runs Heapwise without some system calls."""

    def run(error: int, calls: list[int], *words: str) -> subprocess.CompletedProcess[str]:
        refused = [str(programs / "deny"), str(error), *map(str, calls), "--"]
        return subprocess.run(
            [*refused, *command(words)],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.mark.parametrize("error", ERRORS, ids=["EPERM", "ENOSYS"])
@pytest.mark.parametrize("calls", [[each] for each in CALLS.values()] + [[*CALLS.values()]])
def test_calls_of_all_threads_and_children_are_recorded_without_these_system_calls(
    denied: Denied, programs: Path, error: int, calls: list[int]
) -> None:
    done = denied(
        error, calls, "record", "--follow", "--json", "-o", "t.hwt", "--", str(programs / "work")
    )
    assert done.returncode == 0, done.stderr
    processes = json.loads(done.stdout)["summary"]["processes"]
    assert len(processes) == 2
    first, child = sorted(processes, key=lambda each: -each["events"])
    assert first["events"] >= 4000, processes
    assert 2000 <= child["events"] < 3000, processes


def test_a_child_of_a_recording_without_children_is_not_taken_for_its_parent(
    denied: Denied, programs: Path
) -> None:
    """The kernel usually clears a page in a forked child; here it refuses to."""
    done = denied(
        errno.EPERM,
        [CALLS["madvise"]],
        "record",
        "--json",
        "-o",
        "t.hwt",
        "--",
        str(programs / "work"),
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)["summary"]
    assert 4000 <= summary["events"] < 5000, summary


@pytest.mark.parametrize("error", ERRORS, ids=["EPERM", "ENOSYS"])
def test_a_comparison_needs_none_of_these_system_calls(
    denied: Denied, programs: Path, error: int
) -> None:
    words = ["compare", "--allocators", "glibc,heapwise", "--runs", "1", "--json"]
    done = denied(error, [*CALLS.values()], *words, "--", str(programs / "work"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trust"]["checks"]


@pytest.mark.parametrize(("call", "named"), UNREPLACED.values(), ids=[*UNREPLACED])
def test_an_error_names_what_was_refused(
    denied: Denied, programs: Path, call: int, named: str
) -> None:
    words = ["compare", "--allocators", "glibc,heapwise", "--runs", "1"]
    done = denied(errno.EPERM, [call], *words, "--", str(programs / "work"))
    assert done.returncode == Exit.MISSING_TOOL
    assert "E056" in done.stderr
    assert named in done.stderr
