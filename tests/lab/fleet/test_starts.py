"""Workers are started together, and ended together."""

from __future__ import annotations

import signal
import subprocess
import threading
import time

import pytest

from heapwise.errors import Problem
from heapwise.fleet.engines.local_processes import end_all
from heapwise.fleet.starts import Starts

NAMES = [f"m{number}" for number in range(12)]


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "100"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def taken(starts: Starts, count: int) -> dict[str, subprocess.Popen[bytes] | Problem]:
    found = starts.take()
    while len(found) < count:
        time.sleep(0.01)
        found |= starts.take()
    return found


def test_as_many_start_at_once_as_may_and_not_more() -> None:
    at_once = threading.Barrier(4)  # one by one, nobody would pass it
    running: list[str] = []
    most: list[int] = []

    def start(name: str) -> subprocess.Popen[bytes]:
        running.append(name)
        at_once.wait(60)
        most.append(len(running))
        running.remove(name)
        raise Problem("E065", f"{name} is not there")

    starts = Starts(start, at_once=4)
    for name in NAMES:
        starts.begin(name)
    assert all(starts.under_way(name) for name in NAMES)
    found = taken(starts, len(NAMES))
    assert {
        name: problem.what for name, problem in found.items() if isinstance(problem, Problem)
    } == {name: f"{name} is not there" for name in NAMES}
    assert max(most) <= 4
    assert not starts.under_way("m0")


def test_a_worker_that_nobody_took_is_ended_when_it_is_closed() -> None:
    starts = Starts(lambda name: sleeper())
    starts.begin("a")
    while starts.under_way("a") and not starts._ended:
        time.sleep(0.01)
    left = starts.close()
    assert len(left) == 1
    left[0].kill()
    end_all(left)


def test_all_are_asked_to_end_before_one_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heapwise.fleet.engines.local_processes.END_S", 15.0)
    asked = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    deaf = sleeper()
    end_all([deaf, asked])
    assert deaf.returncode == -signal.SIGKILL
    assert asked.returncode == 0
