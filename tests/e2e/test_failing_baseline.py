"""A program that fails as it is: nothing can be compared, and the first process shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from heapwise.store import read_run, run_ids

pytestmark = pytest.mark.usefixtures("built_native")


@pytest.mark.parametrize(
    ("script", "id", "code", "part"),
    [
        ("echo no >&2; exit 4", "E030", 3, "exit code 4"),
        ("kill -SEGV $$", "E030", 3, "crashed (SIGSEGV)"),
        ("sleep 60", "E030", 3, "no end after"),
        ("trap '' TERM; sleep 60", "E030", 3, "no end after"),
        ("echo $$", "E031", 3, "not the same"),
    ],
)
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
    if "sleep" in script:
        assert "if it needs more time: --timeout 10s" in " ".join(done.stderr.split())
    if "echo no" in script:
        assert " no " in " ".join(done.stderr.split())


def test_force_takes_any_exit_code_if_it_is_always_the_same(heapwise: Any, tmp_path: Path) -> None:
    done = heapwise(
        "compare",
        "--force",
        "--runs",
        "1",
        "--allocators",
        "jemalloc,glibc",
        "--",
        "/bin/sh",
        "-c",
        "exit 4",
    )
    assert done.returncode == 0, done.stderr


NEEDS = "test {n} = 200 && { echo too much >&2; exit 3; }; echo {n}"


def test_a_value_of_a_sweep_that_fails_leaves_the_others(heapwise: Any) -> None:
    done = heapwise(
        "compare",
        "--runs",
        "1",
        "--warmup",
        "0",
        "--json",
        "-L",
        "n",
        "10,200",
        "-n",
        "one",
        "-n",
        "two",
        "--shell",
        NEEDS,
        f"{NEEDS} #",
    )
    result = json.loads(done.stdout)
    status = {(r["parameters"]["n"], r["subject"]): r["status"] for r in result["rows"]}
    assert status[10, "one"] == status[10, "two"] == "ok"
    assert status[200, "one"] == status[200, "two"] == "failed"
    assert "n=200: Cannot tell: one failed" in result["advice"]
    v8 = next(c for c in result["trust"]["checks"] if c["id"] == "V8")
    assert v8["verdict"] == "warn"
    assert re.search(r"^one with n=200, (\d) of \1 times: exit code 3", done.stderr, re.MULTILINE)
    assert "-control" not in done.stderr


def test_a_sweep_that_fails_everywhere_ends_and_says_where(heapwise: Any) -> None:
    done = heapwise("compare", "--runs", "1", "-L", "n", "1,2", "--shell", "exit {n}", "exit {n} #")
    assert done.returncode == 3
    said = " ".join(done.stderr.split())
    assert "E030" in said
    assert "with n=1" in said or "with n=2" in said


def test_a_baseline_that_fails_now_and_then_is_counted(heapwise: Any, tmp_path: Path) -> None:
    """A program that fails in its ninth process, whichever label that has."""
    (tmp_path / "flaky").write_text(
        "#!/bin/sh\necho >> count; test $(wc -l < count) = 9 && exit 7; echo same\n"
    )
    (tmp_path / "flaky").chmod(0o755)
    done = heapwise(
        "compare",
        "--runs",
        "4",
        "--warmup",
        "0",
        "--json",
        "-n",
        "a",
        "-n",
        "b",
        "./flaky",
        "echo same",
    )
    result = json.loads(done.stdout)
    rows = {r["subject"]: r for r in result["rows"] if r["parameters"]["quantity"] == "wall_time"}
    assert rows["b"]["verdict"] == "cannot tell"
    assert "a failed 1 of" in rows["b"]["note"]
    assert rows["b"]["median"] > 0
