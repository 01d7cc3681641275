"""Gates and bisections whose builds run at once on one processor, so that noise meets both."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from planted_commits import git, planted

from heapwise.store import read_run, run_ids

pytestmark = pytest.mark.usefixtures("built_native")

SOURCE = Path(__file__).resolve().parents[1] / "data" / "gate_program.c"
TIMED = ("--limit", "time=8%", "--time", "15s", "--warmup", "0", "--side-by-side")
WORK = ("--", "300000", "100")
"""About 10 ms."""


def build(path: Path, slower: int) -> str:
    subprocess.run(["cc", "-O1", f"-DSLOW={slower}", "-o", str(path), str(SOURCE)], check=True)
    return f"./{path.name}"


def row_of(done: Any) -> dict[str, Any]:
    rows: list[dict[str, Any]] = json.loads(done.stdout)["gate"]["rows"]
    return rows[0]


def test_a_slower_build_is_told_by_the_processor_time_of_both(
    heapwise: Any, tmp_path: Path
) -> None:
    base, new = build(tmp_path / "base", 0), build(tmp_path / "newer", 25)
    files = [word for suffix in ("md", "bmf.json") for word in ("--export", f"gate.{suffix}")]
    words = ("gate", "--base", base, "--new", new, "--json", *TIMED, *files, *WORK)
    done = heapwise(*words)
    assert done.returncode == 1, done.stdout + done.stderr
    row = row_of(done)
    assert row["quantity"] == "side_by_side"
    assert row["sentence"].endswith("; judged by CPU time, side by side.")
    assert 0.1 < row["change"] < 0.4
    assert row["new"] > row["base"] > 0
    assert "time (CPU time, side by side)" in (tmp_path / "gate.md").read_text()
    # Processor time is not a latency.
    assert [*json.loads((tmp_path / "gate.bmf.json").read_text())["newer"]] == ["cpu-time"]


def test_equal_builds_are_fine_whatever_else_runs(heapwise: Any, tmp_path: Path) -> None:
    base = build(tmp_path / "base", 0)
    shutil.copy(tmp_path / "base", tmp_path / "other")
    words = ("gate", "--base", base, "--new", "./other", "--measure-identical", "--json")
    done = heapwise(*words, *TIMED, *WORK)
    assert row_of(done)["verdict"] != "regressed", done.stdout
    stored = read_run(tmp_path / "store", run_ids(tmp_path / "store")[-1])
    together = [p for p in stored.processes if p.facts.beside is not None]
    # The A/A pair is measured the same way.
    assert {p.subject for p in together} == {"base", "base-control", "new"}


def test_builds_of_commits_that_are_counted_at_one_path_run_side_by_side_at_two(
    heapwise: Any, tmp_path: Path
) -> None:
    shutil.copy(SOURCE, tmp_path / "app.c")
    (tmp_path / "Makefile").write_text("app: app.c\n\tcc -O1 -o app app.c\n")
    (tmp_path / ".gitignore").write_text("*\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", "app.c", "Makefile")
    git(tmp_path, "commit", "-qm", "base")
    text = SOURCE.read_text().replace("#define SLOW 0", "#define SLOW 25")
    (tmp_path / "app.c").write_text(text)
    words = ("gate", "--base-commit", "HEAD", "--build-command", "make", "--new", "./app", "--json")
    done = heapwise(*words, *TIMED, "--limit", "allocations=0", *WORK)
    assert done.returncode == 1, done.stdout + done.stderr
    assert row_of(done)["quantity"] == "side_by_side"
    assert json.loads(done.stdout)["gate"]["rows"][1]["exact"]


def test_layouts_take_turns_at_one_path(heapwise: Any, tmp_path: Path) -> None:
    hashes = planted(tmp_path / "r", 2, 1, 0, iterations=1000)
    command = ("--build-command", "cc -O1 -o prog main.c", "--relink", "6", "--side-by-side")
    gate = ("gate", "--base-commit", hashes[0], "--new", "./prog", "--limit", "time=9%")
    for words in ((*gate, *command), ("bisect", "--good", hashes[0], *command, "--", "./prog")):
        done = heapwise(*words, cwd=tmp_path / "r")
        assert done.returncode == 2, done.stdout + done.stderr
        assert "one path in turn" in done.stderr


def test_the_commit_that_made_a_program_slower_is_found_side_by_side(tmp_path: Path) -> None:
    hashes = planted(tmp_path / "r", 4, 2, 30, iterations=4_000_000)
    command = ("--build-command", "cc -O1 -o prog main.c", "--time", "20s", "--side-by-side")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "heapwise", "bisect", "--quiet", "--json"),
            *("--good", hashes[0], *command, "--", "./prog"),
        ],
        cwd=tmp_path / "r",
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["found"] == hashes[2]
    assert found["quantity"] == "side_by_side"
    assert found["ratio"]["low"] > 1.1
