"""A program that fails as it is: nothing can be compared, and the first process shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heapwise.store import read_run, run_ids

pytestmark = pytest.mark.usefixtures("built_native")


@pytest.mark.parametrize(("script", "id", "code", "part"), [
    ("echo no >&2; exit 4", "E030", 3, "exit code 4"),
    ("kill -SEGV $$", "E030", 3, "crashed (SIGSEGV)"),
    ("sleep 60", "E030", 3, "no end after"),
    ("trap '' TERM; sleep 60", "E030", 3, "no end after"),
    ("echo $$", "E031", 3, "not the same"),
])
def test_exit_3_and_the_reason(
    heapwise: Any, tmp_path: Path, script: str, id: str, code: int, part: str
) -> None:
    limit = "1s" if "sleep" in script else "60s"
    done = heapwise("compare", "--timeout", limit, "--", "/bin/sh", "-c", script)
    assert done.returncode == code, done.stderr
    assert f"error {id}" in done.stderr
    assert part in " ".join(done.stderr.split())
    store = tmp_path / "store"
    stored = read_run(store, run_ids(store)[-1])
    assert stored.run.state == "interrupted"
    assert 1 <= len(stored.processes) <= 3
    if "echo no" in script:
        assert " no " in " ".join(done.stderr.split())


def test_force_takes_any_exit_code_if_it_is_always_the_same(heapwise: Any, tmp_path: Path) -> None:
    done = heapwise("compare", "--force", "--runs", "1", "--allocators", "jemalloc,glibc", "--",
                    "/bin/sh", "-c", "exit 4")
    assert done.returncode == 0, done.stderr
