"""``compare --force`` on programs in which malloc cannot be replaced, and on one where it can."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
void* volatile block;
int main(void) {
  block = malloc(100);
  free(block);
  puts("done");
}
"""
JEMALLOC = "-l:libjemalloc.so.2"


def checks(heapwise: Any, tmp_path: Path, *options: str) -> dict[str, dict[str, Any]]:
    """Of a comparison of the program, built with ``options``: id -> check."""
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["gcc", "program.c", "-o", "program", *options], cwd=tmp_path, check=True)
    done = heapwise(
        "compare",
        "--force",
        "--allocators",
        "mimalloc",
        "--runs",
        "1",
        "--warmup",
        "0",
        "--json",
        "--",
        "./program",
    )
    assert done.stdout, done.stderr
    return {check["id"]: check for check in json.loads(done.stdout)["trust"]["checks"]}


def test_a_linked_allocator_is_replaced(heapwise: Any, tmp_path: Path) -> None:
    """The library that is preloaded comes before the one that the program is linked with."""
    found = checks(heapwise, tmp_path, "-Wl,--no-as-needed", JEMALLOC)
    assert found["V1"]["verdict"] == "pass", found["V1"]
    assert found["V2"]["verdict"] == "pass", found["V2"]
    assert "malloc from libjemalloc.so.2" in found["V2"]["detail"]


def test_a_static_program_never_gets_a_figure(heapwise: Any, tmp_path: Path) -> None:
    found = checks(heapwise, tmp_path, "-static")
    assert found["V2"]["verdict"] == "fail", found["V2"]
    assert "no allocator can be loaded into it" in found["V2"]["detail"]
    assert found["V1"]["verdict"] != "pass"
