"""Filters of system calls that a service has: the heap makes no call that it does not need.

systemd's units forbid whole groups of calls (``SystemCallFilter=~@resources``), and the kernel ends
a process that makes one of them.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Any

import pytest
from call_groups import GROUPS, names_of, numbers, numbers_of

HERE = Path(__file__).parent
SOURCES = HERE.parents[2] / "src" / "os"
PROFILES = ("", "-guarded", "-hardened")
FAST = {"HEAPWISE_MALLOC_PURGE_DELAY_MS": "20", "HEAPWISE_MALLOC_GUARD_EVERY": "1"}
# Nobody can start a program without them, or a thread, which gives memory back. `survivor` has an
# alarm.
NEEDED = {"@default", "@basic-io", "@file-system", "@process", "@signal", "@timer"}
# A thread that may not end cannot do anything right.
ENDS = {"exit", "exit_group"}


@pytest.fixture(scope="module", params=PROFILES, ids=lambda name: name.lstrip("-") or "default")
def library(request: Any, native: Path) -> Path:
    return native / f"libheapwise-malloc{request.param}.so"


def under(host: Any, start: list[Any], library: Path, *program: Any) -> Any:
    """The program with the library, where `start` begins it; `env` alone is begun without."""
    words = [f"LD_PRELOAD={library}", *(f"{name}={value}" for name, value in FAST.items())]
    return host.run(*start, "--", "/usr/bin/env", *words, *program, timeout_s=60)


OTHERS = sorted(GROUPS.keys() - NEEDED - {"@system-service"})


def assert_unharmed(host: Any, compiled: Any, library: Path, how: str, names: set[str]) -> None:
    """The heap serves, and gives memory back, where `kill` ends what makes other calls."""
    start = [compiled(HERE / "kill.c"), how, *map(str, numbers_of(names))]
    done = under(host, start, library, compiled(HERE / "idle.c"), "20")
    assert (done.status, done.out) == (0, b"given back\n"), done.err
    done = under(host, start, library, compiled(HERE / "survivor.c"), "threads", "recovers")
    assert (done.status, done.out) == (0, b"done 0\n"), done.err


def test_all_groups_that_nobody_needs_are_forbidden(
    host: Any, compiled: Any, library: Path
) -> None:
    names = set().union(*map(names_of, OTHERS))
    assert_unharmed(host, compiled, library, "only", names)


def test_nothing_but_system_service_is_allowed(host: Any, compiled: Any, library: Path) -> None:
    """As in most units that have a filter."""
    assert_unharmed(host, compiled, library, "but", names_of("@system-service"))


@pytest.mark.long
@pytest.mark.parametrize("group", OTHERS)
def test_one_group_is_forbidden(host: Any, compiled: Any, library: Path, group: str) -> None:
    assert_unharmed(host, compiled, library, "only", names_of(group))


def test_a_filter_ends_a_process(host: Any, compiled: Any, library: Path) -> None:
    """Otherwise the tests above would prove nothing."""
    start = [compiled(HERE / "kill.c"), "only", str(numbers()["madvise"])]
    done = under(host, start, library, compiled(HERE / "idle.c"), "20")
    assert done.status == -31, (done.status, done.err)


def calls_of_the_heap() -> set[str]:
    """The system calls that its sources name."""
    texts = [file.read_text() for file in SOURCES.rglob("*.[ch]pp")]
    found = {name for text in texts for name in re.findall(r"\bSYS_(\w+)", text)}
    assert len(found & numbers().keys()) > 15, found
    return found


@pytest.mark.long
@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EPERM], ids=["ENOSYS", "EPERM"])
def test_each_call_refused_from_the_start(
    host: Any, compiled: Any, library: Path, error: int
) -> None:
    """As by sandboxes that do not know a call: memory is served, or the program is told ENOMEM."""
    deny, program = compiled(HERE / "deny.c"), compiled(HERE / "survivor.c")
    known = numbers()
    refused = sorted(known[name] for name in (calls_of_the_heap() & known.keys()) - ENDS)
    for number in refused:
        start = [deny, str(error), str(number)]
        host_alone = host.run(*start, "--", "/usr/bin/env", program, "small", timeout_s=60)
        if host_alone.status != 0:
            continue  # nobody can start a program
        for scene in ("small", "large"):
            done = under(host, start, library, program, scene)
            assert done.status == 0, f"{number}, {scene}: {done.status} {done.err}"
            assert done.out.startswith(b"done"), f"{number}, {scene}: {done.out!r}"


@pytest.mark.long
@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EPERM], ids=["ENOSYS", "EPERM"])
def test_each_call_refused_later(host: Any, compiled: Any, library: Path, error: int) -> None:
    """By a sandbox that a program enters once it runs."""
    program = compiled(HERE / "survivor.c")
    known = numbers()
    for name in sorted(calls_of_the_heap() & known.keys() - ENDS - {"write"}):
        for scene in ("small", "large"):
            words = [f"LD_PRELOAD={library}", *(f"{key}={value}" for key, value in FAST.items())]
            done = host.run(
                "/usr/bin/env",
                *words,
                program,
                scene,
                "later",
                str(error),
                str(known[name]),
                timeout_s=60,
            )
            assert done.status == 0, f"{name}, {scene}: {done.status} {done.err}"
            assert done.out.startswith(b"done"), f"{name}, {scene}: {done.out!r}"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs rights to mount")
@pytest.mark.parametrize("hidden", ["/proc", "/sys"])
def test_without_a_file_system_of_the_kernel(
    host: Any, compiled: Any, library: Path, hidden: str
) -> None:
    program = compiled(HERE / "survivor.c")
    words = " ".join([f"LD_PRELOAD={library}", *(f"{key}={value}" for key, value in FAST.items())])
    script = f"mount -t tmpfs none {hidden} && exec env {words} {program} large recovers"
    done = host.run("/usr/bin/unshare", "-m", "sh", "-c", script)
    if "unshare failed" in done.err or "permission denied" in done.err:
        pytest.skip(done.err)
    assert (done.status, done.out) == (0, b"done 0\n"), done.err
