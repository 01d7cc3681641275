"""A run that is complete can be given more rounds or more time, and nothing else changes."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from planned import planned_processes

from heapwise.store import read_run, run_ids


def test_more_rounds(heapwise: Any, fake_native: Path, tmp_path: Path) -> None:
    env = {"HEAPWISE_NATIVE": str(fake_native)}
    heapwise(
        "run",
        "fake/subjects",
        "--subjects",
        "good",
        "--set",
        "size=8",
        "--rounds",
        "1",
        "--quiet",
        env=env,
    )
    store = tmp_path / "store"
    run_id = run_ids(store)[0]
    before = read_run(store, run_id)
    nothing = heapwise("resume", run_id, env=env)
    assert "The run is complete." in nothing.stdout
    assert len(read_run(store, run_id).processes) == len(before.processes)
    assert len(planned_processes(before)) == 2
    done = heapwise("resume", run_id, "--runs", "3", env=env)
    assert done.returncode == 0, done.stderr
    after = read_run(store, run_id)
    assert after.processes[: len(before.processes)] == before.processes
    assert sorted({p.round for p in planned_processes(after)}) == [0, 1, 2]
    assert after.run.plan.seed == before.run.plan.seed
    limited = heapwise("resume", run_id, "--runs", "9", "--time", "1ms", env=env)
    assert limited.returncode == 0, limited.stderr
    whole = sum(number == 2 for number in Counter(p.round for p in after.processes).values())
    assert f"Ended    after {whole} of 9 rounds: the time is up" in limited.stdout
    assert len(read_run(store, run_id).processes) == len(after.processes)


def test_more_time(
    built_native: Path, heapwise: Any, assert_went_well: Any, tmp_path: Path
) -> None:
    heapwise(
        "compare", "--runs", "1", "--allocators", "jemalloc,glibc", "--quiet", "--", "/bin/true"
    )
    store = tmp_path / "store"
    run_id = run_ids(store)[0]
    before = max(p.round for p in read_run(store, run_id).processes)
    done = heapwise("resume", run_id, "--time", "4s")
    assert_went_well(done)
    after = read_run(store, run_id)
    assert max(p.round for p in after.processes) > before
    assert after.run.state == "complete"


def test_a_time_that_is_spent_is_not_asked_for_again(
    heapwise: Any, fake_native: Path, tmp_path: Path
) -> None:
    env = {"HEAPWISE_NATIVE": str(fake_native)}
    few = ("--subjects", "good", "--set", "size=8", "--rounds", "1", "--time", "60s", "--quiet")
    heapwise("run", "fake/subjects", *few, env=env)
    before = len(read_run(tmp_path / "store", "last").processes)
    for time_s, said in (("60s", " of 1 min are spent;"), ("1ms", " of 1 ms are spent;")):
        done = heapwise("resume", "last", "--time", time_s, env=env)
        assert done.returncode == 0, done.stderr
        assert "The run is complete." in done.stdout
        assert said in done.stdout
        assert "--time is the time in all, such as --time " in done.stdout
        assert "To add rounds" not in done.stdout
    assert "such as --time 2m." in heapwise("resume", "last", "--time", "60s", env=env).stdout
    assert len(read_run(tmp_path / "store", "last").processes) == before


def test_a_moved_binary_is_found_again(heapwise: Any, fake_native: Path, tmp_path: Path) -> None:
    env = {"HEAPWISE_NATIVE": str(fake_native)}
    heapwise("run", "fake/subjects", "--subjects", "good", "--rounds", "1", "--quiet", env=env)
    moved = tmp_path / "elsewhere"
    fake_native.rename(moved)
    run_id = run_ids(tmp_path / "store")[0]
    done = heapwise("resume", run_id, "--runs", "2", env={"HEAPWISE_NATIVE": str(moved)})
    assert done.returncode == 0, done.stderr
    (moved / "experiments" / "fake" / "subjects").unlink()
    resumed = heapwise("resume", run_id, "--runs", "3", env={"HEAPWISE_NATIVE": str(moved)})
    assert resumed.returncode == 5
    assert "no longer installed" in resumed.stderr


def test_a_folder_that_is_in_no_store_goes_on_and_is_shown(
    built_native: Path, heapwise: Any, tmp_path: Path
) -> None:
    heapwise("compare", "--runs", "1", "--allocators", "jemalloc,glibc", "--quiet", "--", "true")
    (tmp_path / "sent").mkdir()
    source = tmp_path / "store" / "runs" / run_ids(tmp_path / "store")[0]
    folder = source.rename(tmp_path / "sent" / source.name)
    done = heapwise("resume", f"./sent/{folder.name}", "--runs", "2")
    assert done.returncode in (0, 4), done.stderr
    assert "Command      /" in done.stdout
    assert f"heapwise report {folder}" in done.stdout
    assert max(p.round for p in planned_processes(read_run(tmp_path, str(folder)))) == 2
    assert [path.name for path in (tmp_path / "sent").iterdir()] == [folder.name]
    assert {path.name for path in tmp_path.iterdir()} == {"sent", "store"}


def test_hints_name_a_store_that_is_not_the_usual_one(
    built_native: Path, heapwise: Any, tmp_path: Path
) -> None:
    words = ("compare", "--runs", "1", "--allocators", "jemalloc,glibc")
    usual = heapwise(*words, "--", "true").stdout
    assert "--store" not in usual
    other = heapwise(*words, "--store", "other place", "--", "true").stdout
    id = run_ids(tmp_path / "other place")[0]
    hint = f"heapwise report {id} --store '{tmp_path / 'other place'}'"
    assert hint in other
    assert heapwise(*shlex.split(hint)[1:], "--open", "no").returncode == 0


def test_a_run_that_is_being_measured_is_left_alone(
    built_native: Path, heapwise: Any, environment: dict[str, str], tmp_path: Path
) -> None:
    words = [
        "compare",
        "--runs",
        "4",
        "--allocators",
        "jemalloc,glibc",
        "--quiet",
        "--",
        "sleep",
        "0.7",
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "heapwise", *words],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
    ) as first:
        wait_for_a_line(tmp_path / "store")
        second = heapwise("resume")
        assert second.returncode == 2, second.stderr
        assert f"is being measured by process {first.pid}" in " ".join(second.stderr.split())
        first.wait(timeout=100)
    stored = read_run(tmp_path / "store", "last")
    assert stored.damaged_lines == 0
    assert sorted({p.round for p in planned_processes(stored)}) == [0, 1, 2, 3, 4]


def wait_for_a_line(store: Path) -> None:
    for _ in range(600):
        if any(path.stat().st_size for path in store.glob("runs/*/samples.jsonl")):
            return
        time.sleep(0.05)
    raise AssertionError("nothing was stored")
