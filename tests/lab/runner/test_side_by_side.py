"""Two real processes at once on one processor."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from heapwise.model import LauncherFacts
from heapwise.runner.process.launch import Launch
from heapwise.runner.process.side_by_side import Together, overlap, run_together
from heapwise.runner.process.stop_switch import StopSwitch

CPU = min(os.sched_getaffinity(0))


def spinning(seconds: float) -> Launch:
    """A program that needs about this much processor time."""
    code = f"import time\nwhile time.process_time() < {seconds}: pass"
    return Launch([sys.executable, "-S", "-c", code], dict(os.environ), 60.0, cpus=[CPU])


def run(folder: Path, *launches: Launch) -> list[Together]:
    with StopSwitch() as stop:
        return run_together(launches, folder, stop)


def test_both_run_at_once_and_both_are_timed(tmp_path: Path) -> None:
    first, second = (one.outcome.facts for one in run(tmp_path, spinning(0.1), spinning(0.1)))
    for facts in first, second:
        assert facts.exit_code == 0
        assert facts.cpu_s is not None
        assert facts.cpu_s > 0.05
        assert facts.start_ns is not None
        assert facts.end_ns is not None
    assert first.start_ns < second.end_ns  # type: ignore[operator]
    assert second.start_ns < first.end_ns  # type: ignore[operator]


def test_each_is_a_session_of_its_own(tmp_path: Path) -> None:
    """A kernel that shares a processor between sessions would give all of them one share."""
    files = [tmp_path / name for name in ("first", "second")]
    code = "import os, sys; open(sys.argv[1], 'a').write(f'{os.getsid(0)} ')"
    launches = [
        Launch([sys.executable, "-S", "-c", code, str(file)], dict(os.environ), 60.0, cpus=[CPU])
        for file in files
    ]
    run(tmp_path / "runs", *launches)
    sessions = [set(file.read_text().split()) for file in files]
    assert all(sessions)
    assert not sessions[0] & sessions[1]
    assert str(os.getsid(0)) not in sessions[0] | sessions[1]


@pytest.mark.parametrize("longer", [0, 1])
def test_the_longer_one_never_has_the_processor_to_itself(tmp_path: Path, longer: int) -> None:
    seconds = [0.1, 0.1]
    seconds[longer] = 0.8
    found = run(tmp_path, spinning(seconds[0]), spinning(seconds[1]))
    assert found[1 - longer].fillers >= 3
    assert found[longer].fillers == 0
    assert min(one.overlap for one in found) > 0.8
    assert [one.outcome.facts.exit_code for one in found] == [0, 0]


def test_several_run_beside_each_other(tmp_path: Path) -> None:
    found = run(tmp_path, *(spinning(seconds) for seconds in (0.05, 0.1, 0.15, 0.05)))
    assert [one.outcome.facts.exit_code for one in found] == [0] * 4
    assert found[2].fillers == 0
    assert min(one.overlap for one in found) > 0.6


def test_a_filler_runs_to_its_end(tmp_path: Path) -> None:
    forever = Launch(
        [
            "/bin/sh",
            "-c",
            f"[ -e {tmp_path}/once ] && sleep 3 && touch {tmp_path}/whole; touch {tmp_path}/once",
        ],
        dict(os.environ),
        60.0,
        cpus=[CPU],
    )
    found = run(tmp_path / "runs", forever, spinning(0.2))
    assert found[1].outcome.facts.exit_code == 0
    assert found[0].fillers == 1
    assert (tmp_path / "whole").exists()


def test_a_program_that_does_not_exist_is_told_as_such(tmp_path: Path) -> None:
    absent = Launch(["/no/such/program"], dict(os.environ), 60.0, cpus=[CPU])
    found = run(tmp_path, absent, spinning(0.05))
    assert found[0].outcome.facts.start_error
    assert found[1].outcome.facts.exit_code == 0


def test_the_user_can_stop_a_pair(tmp_path: Path) -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    found = run(tmp_path, spinning(30), spinning(30))
    assert all(one.outcome.interrupted for one in found)


@pytest.mark.parametrize(
    ("beside", "share"),
    [
        ([(0, 100)], 1.0),
        ([(0, 50)], 0.5),
        ([(-50, 25), (50, 150)], 0.75),
        ([(100, 200)], 0.0),
        ([], 0.0),
    ],
)
def test_overlap_is_the_share_of_the_longer(beside: list[tuple[int, int]], share: float) -> None:
    longer = LauncherFacts(start_ns=0, end_ns=100)
    others = [LauncherFacts(start_ns=start, end_ns=end) for start, end in beside]
    assert overlap(longer, others) == share


def test_unknown_times_have_an_overlap_of_zero() -> None:
    assert overlap(LauncherFacts(), [LauncherFacts(start_ns=0, end_ns=1)]) == 0.0


def test_a_pair_that_is_stopped_before_it_began_is_interrupted(tmp_path: Path) -> None:
    with StopSwitch() as stop:
        for _ in range(3):  # the third kills a launcher, as one that has just been started
            signal.raise_signal(signal.SIGINT)
        found = run_together([spinning(0.1), spinning(0.1)], tmp_path, stop)
    assert [one.outcome.interrupted for one in found] == [True, True]
