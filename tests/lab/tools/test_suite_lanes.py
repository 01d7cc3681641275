"""Parts run beside each other only where the list allows it, and none is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from suite.lanes import run_lanes
from suite.part import Lane, Part, run_part
from suite.tally import Tally

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 60


def part(name: str, lane: Lane = Lane.USUAL) -> Part:
    return Part(name, ["ignored"], lane=lane)


def test_all_are_counted() -> None:
    parts = [part("a"), part("b", Lane.BESIDE), part("c", Lane.ALONE)]
    failure = Tally(failures=("b",))
    tally = run_lanes(parts, lambda it: failure if it.name == "b" else Tally(passed=2, skipped=1))
    assert tally == Tally(4, 2, ("b",))


def test_two_lanes_run_at_once() -> None:
    """Each part waits until the other has begun."""
    both = threading.Barrier(2)

    def run(_: Part) -> Tally:
        both.wait(LIMIT_S)
        return Tally(passed=1)

    assert run_lanes([part("a"), part("b", Lane.BESIDE)], run) == Tally(passed=2)


def test_a_lane_keeps_its_order_and_one_runs_alone() -> None:
    names = ["a", "b", "c"]
    parts = [part("alone", Lane.ALONE)]
    parts += [
        part(f"{lane.name} {name}", lane) for name in names for lane in (Lane.USUAL, Lane.BESIDE)
    ]
    begun: list[str] = []
    running: set[str] = set()

    def run(it: Part) -> Tally:
        running.add(it.name)
        begun.append(it.name)
        assert it.lane is not Lane.ALONE or len(running) == 1
        assert sum(name.startswith(it.lane.name) for name in running) <= 1
        running.remove(it.name)
        return Tally(passed=1)

    assert run_lanes(parts, run) == Tally(passed=7)
    for lane in ("USUAL", "BESIDE"):
        assert [name for name in begun if name.startswith(lane)] == [
            f"{lane} {name}" for name in names
        ]
    assert begun[-1] == "alone"


def test_an_interruption_ends_what_runs_beside(tmp_path: Path) -> None:
    """And the parts that would come after it do not run."""
    started = tmp_path / "started"
    os.mkfifo(started)
    endless = (
        f"import os, time; print(os.getpid(), file=open({str(started)!r}, 'w')); time.sleep(600)"
    )
    parts = [
        part("a"),
        Part("b", [sys.executable, "-c", endless], lane=Lane.BESIDE),
        part("c", Lane.BESIDE),
        part("d", Lane.ALONE),
    ]
    run_names: list[str] = []
    pids: list[int] = []

    def run(it: Part) -> Tally:
        run_names.append(it.name)
        if it.name == "a":
            pids.append(int(started.read_text()))
            raise KeyboardInterrupt
        return run_part(it, tmp_path)

    with pytest.raises(KeyboardInterrupt):
        run_lanes(parts, run)
    assert sorted(run_names) == ["a", "b"]
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_an_interruption_ends_what_is_about_to_start(tmp_path: Path) -> None:
    too_late = tmp_path / "too_late"
    program = f"import pathlib, time; time.sleep(10); pathlib.Path({str(too_late)!r}).touch()"
    parts = [part("a"), Part("b", [sys.executable, "-c", program], lane=Lane.BESIDE)]
    is_chosen = threading.Event()

    def run(it: Part) -> Tally:
        if it.name == "a":
            is_chosen.wait()
            raise KeyboardInterrupt
        is_chosen.set()
        time.sleep(0.5)
        return run_part(it, tmp_path)

    with pytest.raises(KeyboardInterrupt):
        run_lanes(parts, run)
    assert not too_late.exists()


def test_no_part_inherits_what_make_was_told(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "check_layers.py").write_text("import os; print(sorted(os.environ))")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "suite", "layers of C++"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=os.environ
        | {"PYTHONPATH": str(ROOT / "tools"), "MAKEFLAGS": "s", "MFLAGS": "-s", "MAKELEVEL": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    names = (tmp_path / "build" / "test" / "layers-of-C++.log").read_text()
    assert "'PATH'" in names
    assert not [
        name for name in ("PYTHONPATH", "MAKEFLAGS", "MFLAGS", "MAKELEVEL") if f"'{name}'" in names
    ]


def test_the_output_of_each_part_stays_together(tmp_path: Path) -> None:
    """The real suite, in a folder where the programs of two parts are missing, one of each lane."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "suite", "docs", "layers of C++"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tools")},
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 1, done.stdout + done.stderr
    for name in ("docs", "layers of C++"):
        assert f"==> {name}" in lines
        [end] = [
            number
            for number, line in enumerate(lines)
            if line.startswith(f"    {name}: 0 passed, 1 failed   (")
        ]
        assert lines[end - 1].startswith("    whole log: "), lines
        assert lines[end - 1].endswith(f"{name.replace(' ', '-')}.log"), lines
        assert lines[end - 2].startswith("    | "), lines
    assert lines[-1] == "0 passed, 2 failed"
