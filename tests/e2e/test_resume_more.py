"""A run that is complete can be given more rounds or more time, and nothing else changes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from heapwise.store import read_run, run_ids


def test_more_rounds(heapwise: Any, fake_native: Path, tmp_path: Path) -> None:
    env = {"HEAPWISE_NATIVE": str(fake_native)}
    heapwise("run", "fake/subjects", "--subjects", "good", "--set", "size=8", "--rounds", "1",
             "--quiet", env=env)
    store = tmp_path / "store"
    run_id = run_ids(store)[0]
    before = read_run(store, run_id)
    nothing = heapwise("resume", run_id, env=env)
    assert "nothing is left to do" in nothing.stdout
    assert len(read_run(store, run_id).processes) == len(before.processes) == 2
    done = heapwise("resume", run_id, "--runs", "3", env=env)
    assert done.returncode == 0, done.stderr
    after = read_run(store, run_id)
    assert after.processes[:2] == before.processes
    assert sorted({p.round for p in after.processes}) == [0, 1, 2]
    assert after.run.plan.seed == before.run.plan.seed
    limited = heapwise("resume", run_id, "--runs", "9", "--time", "1ms", env=env)
    assert limited.returncode == 0, limited.stderr
    assert "Ended    after 3 of 9 rounds: the time is up" in limited.stdout
    assert len(read_run(store, run_id).processes) == len(after.processes)


def test_more_time(
    built_native: Path, heapwise: Any, assert_went_well: Any, tmp_path: Path
) -> None:
    heapwise("compare", "--runs", "1", "--allocators", "jemalloc,glibc", "--quiet", "--",
             "/bin/true")
    store = tmp_path / "store"
    run_id = run_ids(store)[0]
    done = heapwise("resume", run_id, "--time", "1s")
    assert_went_well(done)
    after = read_run(store, run_id)
    assert max(p.round for p in after.processes) > 3
    assert after.run.state == "complete"


def test_a_moved_binary_is_found_again(heapwise: Any, fake_native: Path, tmp_path: Path) -> None:
    env = {"HEAPWISE_NATIVE": str(fake_native)}
    heapwise("run", "fake/subjects", "--subjects", "good", "--rounds", "1", "--quiet", env=env)
    moved = tmp_path / "elsewhere"
    fake_native.rename(moved)
    run_id = run_ids(tmp_path / "store")[0]
    done = heapwise("resume", run_id, "--runs", "2", env={"HEAPWISE_NATIVE": str(moved)})
    assert done.returncode == 0, done.stderr
    (moved / "experiments" / "fake" / "subjects").unlink()
    gone = heapwise("resume", run_id, "--runs", "3", env={"HEAPWISE_NATIVE": str(moved)})
    assert gone.returncode == 5
    assert "no longer installed" in gone.stderr


def test_a_run_that_is_being_measured_is_left_alone(
    built_native: Path, heapwise: Any, environment: dict[str, str], tmp_path: Path
) -> None:
    words = ["compare", "--runs", "4", "--allocators", "jemalloc,glibc", "--quiet", "--", "sleep",
             "0.5"]
    with subprocess.Popen([sys.executable, "-m", "heapwise", *words], env=environment,
                          cwd=tmp_path, stdout=subprocess.DEVNULL) as first:
        wait_for_a_line(tmp_path / "store")
        second = heapwise("resume")
        assert second.returncode == 2, second.stderr
        assert f"is being measured by process {first.pid}" in " ".join(second.stderr.split())
        first.wait(timeout=60)
    stored = read_run(tmp_path / "store", "last")
    assert stored.damaged_lines == 0
    assert sorted({p.round for p in stored.processes if p.round >= 0}) == [0, 1, 2, 3, 4]


def wait_for_a_line(store: Path) -> None:
    for _ in range(600):
        if any(path.stat().st_size for path in store.glob("runs/*/samples.jsonl")):
            return
        time.sleep(0.05)
    raise AssertionError("nothing was stored")
