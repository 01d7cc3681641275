"""Ctrl-C and SIGTERM at any moment: the child is gone, all is kept, and the run can go on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from planned import planned_processes, planned_samples

from heapwise.store import read_run, run_ids

PATIENCE_S = 120.0


def hear_interrupts() -> None:
    """What a shell starts in the background ignores SIGINT, and so would its children: a user's
    terminal does not start programs like that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(environment: dict[str, str], place: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "heapwise", *words],
        env=environment,
        cwd=place,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )


def wait_for_lines(store: Path, lines: int) -> None:
    """Until this many lines are stored; more than that is as good."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        files = list(store.glob("runs/*/samples.jsonl"))
        if files and files[0].read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.01)
    raise AssertionError(f"{lines} lines were never stored")


def running(mark: str) -> list[str]:
    """Processes with the mark on their command line, but not those that only pass it on."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"sleep") and mark.encode() in words:
            found.append(path.parent.name)
    return found


def experiments(native: Path) -> list[str]:
    """Processes that run an experiment of this folder: an interpreter with its path, or a binary;
    the launcher, which passes it on, is another program."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        ours = str(native / "experiments").encode()
        if any(word.startswith(ours) for word in words[:2]):
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize(
    ("number", "lines"),
    [
        (signal.SIGINT, 0),
        (signal.SIGINT, 1),
        (signal.SIGINT, 12),
        (signal.SIGTERM, 5),
    ],
)
def test_compare_keeps_everything_and_goes_on(
    built_native: Path,
    heapwise: Any,
    environment: dict[str, str],
    tmp_path: Path,
    assert_went_well: Any,
    number: signal.Signals,
    lines: int,
) -> None:
    mark = f"0.1{os.getpid()}{lines}{int(number)}"
    store = tmp_path / "store"
    child = start(
        environment,
        tmp_path,
        "compare",
        "--runs",
        "8",
        "--allocators",
        "jemalloc,glibc",
        "--",
        "/bin/sh",
        "-c",
        f"/bin/sleep {mark}",
    )
    wait_for_lines(store, lines)
    os.killpg(child.pid, number)
    _, said = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130, said
    found = re.search(
        r"stopped by you after (\d+) of 8 rounds\. (\d+) process(?:es)? kept "
        r"\(run (\w+)\)\.   go on: heapwise resume (\w+)",
        said,
    )
    assert found, said
    assert running(mark) == []
    stored = read_run(store, found.group(3))
    assert stored.run.state == "interrupted"
    assert len([p for p in stored.processes if p.status != "interrupted"]) == int(found.group(2))
    before = (stored.path / "samples.jsonl").read_bytes()
    done = heapwise("resume", found.group(4))
    assert_went_well(done)
    after = read_run(store, found.group(3))
    assert (after.path / "samples.jsonl").read_bytes().startswith(before)
    assert after.run.state == "complete"
    times = Counter((s.round, s.subject) for s in planned_samples(after))
    assert times == Counter(
        {(r, s): 1 for r in range(9) for s in ("glibc", "glibc-control", "jemalloc")}
    )
    assert len({p.number for p in after.processes}) == len(after.processes)


def test_run_keeps_the_samples_of_a_process_that_was_stopped(
    heapwise: Any, environment: dict[str, str], fake_native: Path, tmp_path: Path
) -> None:
    environment["HEAPWISE_NATIVE"] = str(fake_native)
    store = tmp_path / "store"
    child = start(
        environment,
        tmp_path,
        "run",
        "fake/subjects",
        "--subjects",
        "many",
        "--set",
        "size=8",
        "--rounds",
        "1",
        "--seed",
        "5",
    )
    wait_for_lines(store, 20)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130, said
    stored = read_run(store, run_ids(store)[0])
    stopped = [p for p in stored.processes if p.status == "interrupted"]
    assert [p.subject for p in stopped] == ["many"]
    kept = [s for s in stored.samples if s.process == stopped[0].number]
    assert kept
    assert not [s for s in stored.finished_samples if s.subject == "many"]


def test_a_run_goes_on_with_every_cell_that_is_left_and_none_twice(
    heapwise: Any, environment: dict[str, str], fake_native: Path, tmp_path: Path
) -> None:
    """Cells that ran out of time are done too: they are not tried again for ever."""
    environment["HEAPWISE_NATIVE"] = str(fake_native)
    store = tmp_path / "store"
    child = start(
        environment,
        tmp_path,
        "run",
        "fake/subjects",
        "--subjects",
        "slower,hang_64",
        "--timeout",
        "5s",
        "--rounds",
        "3",
        "--seed",
        "7",
    )
    wait_for_lines(store, 14)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130, said
    before = read_run(store, run_ids(store)[0])
    assert before.run.state == "interrupted"
    done = heapwise("resume", before.run.id, env={"HEAPWISE_NATIVE": str(fake_native)})
    assert done.returncode == 3, done.stderr  # one cell never ended, as before
    after = read_run(store, before.run.id)
    assert after.run.state == "complete"
    ended = Counter(
        (p.round, p.subject, p.parameters["size"])
        for p in planned_processes(after)
        if p.status != "interrupted"
    )
    assert ended == Counter(
        (r, s, size)
        for r in range(3)
        for size in (8, 64)
        for s in ("good", "good-control", "slower", "hang_64")
    )
    status = {p.parameters["size"]: p.status for p in after.processes if p.subject == "hang_64"}
    assert status == {8: "ok", 64: "timed_out"}


def test_a_killed_heapwise_leaves_no_experiment_behind(
    environment: dict[str, str], fake_native: Path, tmp_path: Path
) -> None:
    environment["HEAPWISE_NATIVE"] = str(fake_native)
    store = tmp_path / "store"
    child = start(
        environment,
        tmp_path,
        "run",
        "fake/subjects",
        "--subjects",
        "many",
        "--set",
        "size=8",
        "--rounds",
        "1",
        "--seed",
        "5",
    )
    wait_for_lines(store, 20)
    inside = experiments(fake_native)
    assert inside
    child.kill()
    child.communicate(timeout=PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while experiments(fake_native) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert experiments(fake_native) == []


def test_a_killed_heapwise_leaves_no_program_behind(
    built_native: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    mark = f"77.{os.getpid()}"
    child = start(environment, tmp_path, "compare", "--", "/bin/sh", "-c", f"/bin/sleep {mark}")
    deadline = time.monotonic() + PATIENCE_S
    while not running(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert running(mark)
    child.kill()
    child.communicate(timeout=PATIENCE_S)
    while running(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert running(mark) == []
