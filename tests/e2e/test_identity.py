"""V1 on real processes: what a program starts has the library under every allocator, or none."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")


def v1(heapwise: Any, *command: str) -> dict[str, Any]:
    done = heapwise("compare", "--allocators", "jemalloc,glibc", "--runs", "1", "--warmup", "0",
                    "--json", "--", *command)
    assert done.stdout, done.stderr
    return next(c for c in json.loads(done.stdout)["trust"]["checks"] if c["id"] == "V1")


def test_a_child_that_loses_the_library_under_one_allocator_fails(heapwise: Any) -> None:
    found = v1(heapwise, "/bin/sh", "-c", 'case "$LD_PRELOAD" in *jemalloc*) unset LD_PRELOAD;; '
                                          "esac; /bin/echo one; /bin/echo two; true")
    assert found["verdict"] == "fail", found
    assert "echo 0 instead of 2 times under jemalloc" in found["detail"]


def test_children_that_have_it_under_each_allocator_pass(heapwise: Any) -> None:
    found = v1(heapwise, "/bin/sh", "-c", "/bin/echo one; /bin/echo two; true")
    assert found["verdict"] == "pass", found
    assert "processes that they started" in found["detail"]


def test_a_program_that_never_calls_malloc_proves_no_allocator(
    heapwise: Any, tmp_path: Path
) -> None:
    (tmp_path / "none.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-o", "none", "none.c"], cwd=tmp_path, check=True)
    found = v1(heapwise, "./none")
    assert found["verdict"] == "warn", found
    assert "no call of malloc arrived" in found["detail"]
