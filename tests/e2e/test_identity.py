"""V1 and V2 on real processes: what a program starts has the library, or is named."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")


def v1(heapwise: Any, *command: str) -> dict[str, Any]:
    return checks(heapwise, *command)["V1"]


def checks(heapwise: Any, *command: str) -> dict[str, dict[str, Any]]:
    done = heapwise(
        "compare",
        "--allocators",
        "jemalloc,glibc",
        "--runs",
        "1",
        "--warmup",
        "0",
        "--json",
        "--",
        *command,
    )
    assert done.stdout, done.stderr
    return {c["id"]: c for c in json.loads(done.stdout)["trust"]["checks"]}


def test_a_child_that_loses_the_library_under_one_allocator_fails(heapwise: Any) -> None:
    found = v1(
        heapwise,
        "/bin/sh",
        "-c",
        'case "$LD_PRELOAD" in *jemalloc*) unset LD_PRELOAD;; '
        "esac; /bin/echo one; /bin/echo two; true",
    )
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


STATIC = """
#include <stdlib.h>
int main(void) { char *p = malloc(9); p[0] = 0; free(p); return 0; }
"""


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("env -i ./static; echo same", "LD_PRELOAD was taken out of its environment"),
        ("unset LD_PRELOAD; ./static; echo same", "LD_PRELOAD was taken out of its environment"),
        ("./static; echo same", "static, setuid, or not a program for this loader"),
    ],
)
def test_a_program_whose_children_lose_the_library_is_partial(
    heapwise: Any, tmp_path: Path, script: str, why: str
) -> None:
    """All of these were called good, with peak memory of the shell alone."""
    (tmp_path / "static.c").write_text(STATIC)
    subprocess.run(["cc", "-O0", "-static", "-o", "static", "static.c"], cwd=tmp_path, check=True)
    every = checks(heapwise, "/bin/sh", "-c", script)
    assert every["V1"]["verdict"] == "warn", every["V1"]
    found = every["V2"]
    assert found["verdict"] == "warn", found
    assert found["detail"].startswith("Partial: ")
    assert f"static ({why}" in found["detail"]
