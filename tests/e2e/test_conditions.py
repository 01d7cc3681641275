"""Checks of how a program was run, each with its fault in real processes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")

MALLOC = """
extern void *__libc_malloc(__SIZE_TYPE__);
extern void __libc_free(void *);
void *malloc(__SIZE_TYPE__ n) { return __libc_malloc(n); }
void free(void *p) { __libc_free(p); }
"""


def checks(done: Any) -> dict[str, dict[str, Any]]:
    assert done.stdout, done.stderr
    return {c["id"]: c for c in json.loads(done.stdout)["trust"]["checks"]}


def compare(heapwise: Any, *words: str, allocators: str = "jemalloc,glibc", **options: Any) -> Any:
    return heapwise(
        "compare", "--allocators", allocators, "--runs", "1", "--json", *words, **options
    )


def test_a_program_that_pins_itself_is_measured(heapwise: Any) -> None:
    """V11 compares what the launcher gave, not what the program took for itself."""
    cpu = str(max(os.sched_getaffinity(0)))
    found = checks(compare(heapwise, "--", "taskset", "-c", cpu, "/bin/echo", "same"))
    assert found["V11"]["verdict"] == "pass", found["V11"]
    if len(os.sched_getaffinity(0)) > 1:
        assert f"The program chose [{cpu}] for itself" in found["V11"]["detail"]


def test_a_short_program_is_mostly_its_start_and_what_the_launcher_sees_is_read(
    heapwise: Any,
) -> None:
    """V22; V14 and V26: the kernel's counters are everywhere, and each processor is looked at. A
    process that waits for its processor lasts longer, but not each time."""
    for _ in range(4):
        found = checks(compare(heapwise, "--", "/bin/echo", "same"))
        if found["V22"]["verdict"] == "warn":
            break
    assert found["V22"]["verdict"] == "warn"
    starts = found["V22"]["figures"]["startup_s"]
    assert set(starts) == {"glibc", "glibc-control", "jemalloc"}
    assert all(start > 0 for start in starts.values())
    assert found["V14"]["figures"]["running_share"]["page_faults"] == 1.0
    assert found["V26"]["verdict"] in ("pass", "warn")
    assert found["V13"]["figures"]["throttled"] is None or (
        0 <= found["V13"]["figures"]["throttled"] <= 1
    )


def test_a_fixed_layout_is_reported(heapwise: Any) -> None:
    """V10: under setarch -R every process has the same addresses."""
    found = checks(compare(heapwise, "--", "setarch", "-R", "/bin/echo", "same"))
    assert found["V10"]["verdict"] == "warn"


def test_a_session_without_randomisation_is_reported(heapwise: Any) -> None:
    import ctypes

    def without_randomisation() -> None:
        ctypes.CDLL(None).personality(0x0040000)

    found = checks(compare(heapwise, "--", "/bin/echo", "same", preexec_fn=without_randomisation))
    assert found["V10"]["verdict"] == "warn"
    assert "personality" in found["V10"]["detail"]


def test_a_program_that_works_only_once_is_reported(heapwise: Any, tmp_path: Path) -> None:
    """V15: as ``make`` does, whose first process builds everything."""
    found = checks(
        compare(
            heapwise, "--", "/bin/sh", "-c", "test -e built || { sleep 5; touch built; }; echo same"
        )
    )["V15"]
    assert found["verdict"] == "warn"
    assert "spares them the work" in found["detail"]


def test_a_library_that_was_not_optimised_fails(heapwise: Any, tmp_path: Path) -> None:
    """V18: whatever the file is called."""
    (tmp_path / "mine.c").write_text(MALLOC)
    subprocess.run(
        ["cc", "-O0", "-fPIC", "-shared", "-fno-builtin", "-o", "libmine.so", "mine.c"],
        cwd=tmp_path,
        check=True,
    )
    found = checks(
        compare(
            heapwise,
            "--allocator",
            f"mine={tmp_path / 'libmine.so'}",
            "--",
            "/bin/echo",
            "same",
            allocators="glibc",
        )
    )["V18"]
    assert found["verdict"] == "fail"
    assert "mine (not optimised)" in found["detail"]
