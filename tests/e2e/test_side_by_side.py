"""Two builds that run at once on one processor, and what the comparison says of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from heapwise.analysis.verdicts.rows import make_rows
from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.evidence.shared_names import shared_names
from heapwise.model import SIDE_BY_SIDE
from heapwise.store import read_run, run_ids

LOOPS = "for i in range({}): sum(range(100))"


def build(name: str, loops: int) -> list[str]:
    return ["--build", f"{name}={sys.executable} -S -c '{LOOPS.format(loops)}'"]


def test_pairs_tell_a_tenth_more_work_whatever_else_runs(heapwise: Any, tmp_path: Path) -> None:
    builds = build("old", 60_000) + build("new", 72_000)
    options = ["--side-by-side", "--min-rounds", "3", "--time", "16s", "--warmup", "0"]
    done = heapwise("compare", *builds, *options, "--seed", "1")
    stored = read_run(tmp_path / "store", run_ids(tmp_path / "store")[-1])
    together = [p for p in stored.processes if p.facts.beside is not None]
    assert {p.subject for p in together} == {"old", "new", "old-control"}
    kept = [p for p in together if p.status == "ok"]
    assert len(kept) >= 12, done.stdout
    for process in kept:
        beside = process.facts.beside
        assert beside is not None
        assert beside.overlap >= 0.8
        assert beside.processes == 3
        base = next(p for p in together if p.number == beside.baseline)
        assert base.subject == "old"
        assert base.round == process.round
        assert base.facts.affinity == process.facts.affinity
        assert process.facts.affinity is not None
        assert len(process.facts.affinity) == 1
    assert {p.facts.beside.place for p in kept if p.facts.beside} == {0, 1, 2}
    # What is prepared first has more to do: that is not always the same one.
    prepared = {p.facts.beside.prepared for p in kept if p.facts.beside and p.subject == "old"}
    assert len(prepared) > 1
    # What was chosen reaches the kernel; one before Linux 6.12 has no such setting.
    assert {p.facts.slice_ns for p in kept} <= {0, round(stored.run.plan.options.slice_s * 1e9)}
    assert stored.run.plan.options.slice_s >= 0.003
    assert "CPU time, side by side with old" in done.stdout
    rows = [
        row
        for row in make_rows(Evidence(stored))
        if row.quantity == SIDE_BY_SIDE and row.subject == "new"
    ]
    assert rows[0].ratio is not None
    assert 1.05 < rows[0].ratio < 1.35


def test_the_obstacle_to_pairs_is_reported(heapwise: Any, tmp_path: Path) -> None:
    done = heapwise("compare", "--side-by-side", "--prepare", "true", "--", "/bin/true")
    assert done.returncode == 2
    assert "two processes of the program cannot run at once" in done.stderr


def test_a_program_that_must_be_alone_is_measured_alone(heapwise: Any, tmp_path: Path) -> None:
    """Two at once fail. That is not a fault of the program."""
    lock = tmp_path / "lock"
    script = (
        f"mkdir {lock} || exit 3; i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done; rmdir {lock}"
    )
    options = ["--side-by-side", "--time", "6s", "--warmup", "0", "--allocators", "glibc,jemalloc"]
    done = heapwise("compare", *options, "--min-rounds", "3", "--", "/bin/sh", "-c", script)
    stored = read_run(tmp_path / "store", run_ids(tmp_path / "store")[-1])
    assert [p for p in stored.processes if p.facts.beside is not None]
    assert not [p for p in stored.processes if p.status in ("failed", "output_differs")]
    assert done.returncode == 0, done.stderr


def test_a_program_that_writes_a_file_never_meets_itself_unasked(
    heapwise: Any, tmp_path: Path
) -> None:
    script = f"i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo $i > {tmp_path}/state"
    options = ["--time", "6s", "--warmup", "0", "--allocators", "glibc,jemalloc"]
    heapwise("compare", *options, "--min-rounds", "3", "--", "/bin/sh", "-c", script)
    stored = read_run(tmp_path / "store", run_ids(tmp_path / "store")[-1])
    assert not [p for p in stored.processes if p.facts.beside is not None]
    assert {p.facts.written_elsewhere_bytes for p in measured(stored)} == {6}
    shared = shared_names(stored)
    assert shared.missing or [each.name for each in shared.names] == [f"{tmp_path}/state"]


def test_processes_side_by_side_have_a_fresh_folder_each(heapwise: Any, tmp_path: Path) -> None:
    script = "mkdir one; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo $i >one/file; ls"
    options = ["--time", "8s", "--warmup", "0", "--allocators", "glibc,jemalloc", "--fresh-dir"]
    heapwise("compare", *options, "--min-rounds", "3", "--", "/bin/sh", "-euc", script)
    stored = read_run(tmp_path / "store", run_ids(tmp_path / "store")[-1])
    if shared_names(stored).missing:
        pytest.skip(shared_names(stored).missing)
    together = [p for p in stored.processes if p.facts.beside is not None]
    assert together
    assert {p.facts.output_bytes for p in together if p.facts.exit_code is not None} == {4}
    assert not [p for p in together if p.facts.exit_code]


def test_a_program_that_writes_to_pipes_and_new_files_meets_itself_unasked(
    heapwise: Any, tmp_path: Path
) -> None:
    script = (
        f"file=$(mktemp -p {tmp_path}); i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; "
        "echo $i | cat >$file; cat $file; rm $file"
    )
    options = ["--time", "8s", "--warmup", "0", "--allocators", "glibc,jemalloc"]
    heapwise("compare", *options, "--min-rounds", "3", "--", "/bin/sh", "-c", script)
    stored = read_run(tmp_path / "store", run_ids(tmp_path / "store")[-1])
    assert all((p.facts.written_elsewhere_bytes or 0) > 0 for p in measured(stored))
    if shared_names(stored).missing:
        pytest.skip(shared_names(stored).missing)
    assert [p for p in stored.processes if p.facts.beside is not None]
