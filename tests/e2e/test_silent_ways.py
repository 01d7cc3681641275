"""Programs and libraries with which a comparison was once called good although its figures were
wrong, each as real processes. Faults of the machine are in tests/lab/trust/test_silent_ways.py."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")

STATIC = """
#include <stdlib.h>
int main(void) { char *volatile p = malloc(9); free(p); return 0; }
"""
MALLOC = """
extern void *__libc_malloc(__SIZE_TYPE__);
extern void __libc_free(void *);
void *malloc(__SIZE_TYPE__ n) { return __libc_malloc(n); }
void free(void *p) { __libc_free(p); }
"""
UNDER_JEMALLOC = 'case "$LD_PRELOAD" in *jemalloc*) {} ;; *) {} ;; esac; echo same'


def trust_of(heapwise: Any, *words: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """The verdict on a comparison with jemalloc, and the checks by their ids."""
    done = heapwise("compare", "--runs", "1", "--warmup", "0", "--json", *words)
    assert done.stdout, done.stderr
    trust = json.loads(done.stdout)["trust"]
    return trust["verdict"], {check["id"]: check for check in trust["checks"]}


def of_script(heapwise: Any, script: str) -> tuple[str, dict[str, dict[str, Any]]]:
    return trust_of(heapwise, "--allocators", "jemalloc,glibc", "--", "/bin/sh", "-c", script)


def compiled(folder: Path, text: str, name: str, *options: str) -> Path:
    (folder / f"{name}.c").write_text(text)
    subprocess.run(["cc", *options, "-o", name, f"{name}.c"], cwd=folder, check=True)
    return folder / name


@pytest.mark.parametrize("script", ["env -i {} ; echo same", "{}; echo same"])
def test_children_without_the_library(heapwise: Any, tmp_path: Path, script: str) -> None:
    """Their environment was emptied, as bazel, tox and su - do, or no loader preloads into them."""
    child = compiled(tmp_path, STATIC, "child", "-static")
    verdict, checks = of_script(heapwise, script.format(child))
    assert checks["V2"]["verdict"] == "warn", checks["V2"]
    assert "child (" in checks["V2"]["detail"]
    assert verdict != "good"


def test_children_that_are_missing_under_one_allocator(heapwise: Any) -> None:
    verdict, checks = of_script(heapwise, UNDER_JEMALLOC.format(":", "/bin/echo child >&2"))
    assert checks["V1"]["verdict"] == "fail", checks["V1"]
    assert "under jemalloc" in checks["V1"]["detail"]
    assert verdict == "not trustworthy"


def test_output_in_files_alone(heapwise: Any) -> None:
    verdict, checks = trust_of(
        heapwise, "--allocators", "jemalloc,glibc", "--", "/bin/sh", "-c", "echo work >out"
    )
    assert checks["V8"]["verdict"] == "warn", checks["V8"]
    assert "--output-file" in checks["V8"]["detail"]
    assert verdict != "good"


def test_work_in_the_background(heapwise: Any) -> None:
    verdict, checks = of_script(heapwise, "sleep 9 & echo done")
    assert checks["V8"]["verdict"] == "fail", checks["V8"]
    assert verdict == "not trustworthy"


def test_a_library_without_optimisation(heapwise: Any, tmp_path: Path) -> None:
    library = compiled(tmp_path, MALLOC, "libquick.so", "-O0", "-fPIC", "-shared", "-fno-builtin")
    verdict, checks = trust_of(
        heapwise,
        "--allocators",
        "glibc",
        "--allocator",
        f"quick={library}",
        "--",
        "/bin/echo",
        "same",
    )
    assert checks["V18"]["verdict"] == "fail", checks["V18"]
    assert "quick (not optimised)" in checks["V18"]["detail"]
    assert verdict == "not trustworthy"


def test_one_layout_of_memory_for_all_processes(heapwise: Any) -> None:
    verdict, checks = trust_of(
        heapwise, "--allocators", "jemalloc,glibc", "--", "setarch", "-R", "/bin/echo", "same"
    )
    assert checks["V10"]["verdict"] == "warn", checks["V10"]
    assert verdict != "good"
