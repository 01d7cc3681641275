"""Two real processes at once on one processor."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from heapwise.model import LauncherFacts
from heapwise.runner.launch import Launch
from heapwise.runner.side_by_side import Together, overlap, run_together
from heapwise.runner.stop_switch import StopSwitch

CPU = min(os.sched_getaffinity(0))


def spinning(seconds: float) -> Launch:
    """A program that needs about this much processor time."""
    code = f"import time\nwhile time.process_time() < {seconds}: pass"
    return Launch([sys.executable, "-S", "-c", code], dict(os.environ), 60.0, cpus=[CPU])


def run(first: Launch, second: Launch, folder: Path, **how: bool) -> Together:
    with StopSwitch() as stop:
        return run_together(first, second, folder, stop, **how)


def test_both_run_at_once_and_both_are_timed(tmp_path: Path) -> None:
    found = run(spinning(0.1), spinning(0.1), tmp_path)
    first, second = (each.facts for each in found.outcomes)
    for facts in first, second:
        assert facts.exit_code == 0
        assert facts.cpu_s is not None
        assert facts.cpu_s > 0.05
        assert facts.start_ns is not None
        assert facts.end_ns is not None
    assert first.start_ns < second.end_ns  # type: ignore[operator]
    assert second.start_ns < first.end_ns  # type: ignore[operator]


@pytest.mark.parametrize("longer", [0, 1])
def test_the_longer_one_never_has_the_processor_to_itself(tmp_path: Path, longer: int) -> None:
    seconds = [0.05, 0.05]
    seconds[longer] = 0.4
    found = run(spinning(seconds[0]), spinning(seconds[1]), tmp_path)
    assert found.fillers >= 3
    assert found.overlap > 0.8
    assert [each.facts.exit_code for each in found.outcomes] == [0, 0]


def test_a_filler_ends_with_the_longer_one(tmp_path: Path) -> None:
    forever = Launch(
        ["/bin/sh", "-c", f"[ -e {tmp_path}/once ] && exec sleep 50; touch {tmp_path}/once"],
        dict(os.environ),
        60.0,
        cpus=[CPU],
    )
    found = run(forever, spinning(0.2), tmp_path / "runs")
    assert found.outcomes[1].facts.exit_code == 0
    assert found.fillers == 1


def test_a_program_that_does_not_exist_is_told_as_such(tmp_path: Path) -> None:
    absent = Launch(["/no/such/program"], dict(os.environ), 60.0, cpus=[CPU])
    found = run(absent, spinning(0.05), tmp_path)
    assert found.outcomes[0].facts.start_error
    assert found.outcomes[1].facts.exit_code == 0


def test_the_user_can_stop_a_pair(tmp_path: Path) -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    found = run(spinning(30), spinning(30), tmp_path)
    assert all(each.interrupted for each in found.outcomes)


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
