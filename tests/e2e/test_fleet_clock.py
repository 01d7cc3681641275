"""The wall clock of a machine jumps by hours while client, scheduler, worker and measuring process
run. All clocks but the wall clock go on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fleet_faults.journals import Journals
from fleet_faults.jumping_clock import JumpingClock

from heapwise.store import read_run

HOUR_S = 3600
ROUNDS = 25
NAP_S = 0.5
"""The plan then takes longer than the half minute after which the view names the time left."""
PATIENCE_S = 240.0
SOON_S = 120.0
"""No machine of this test takes as long, and each jump is far longer."""


class Laboratory:
    """One machine, local, whose Python processes have a clock that jumps."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, JumpingClock(folder / "python")
        self.store = folder / "store"
        (folder / "hosts.toml").write_text('one = "local"\n')
        self.journals = Journals({"one": folder / "machine"})
        self.environment = {
            name: value for name, value in os.environ.items() if name != "HEAPWISE_STORE"
        } | {
            "HEAPWISE_FLEET_LOCK": str(folder / "lock"),
            "HEAPWISE_FLEET_FOLDER": str(folder / "machine"),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.clock.python), "-m", "heapwise", *words, "--store", str(self.store)],
            env=self.environment,
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def measure(self, rounds: int, program: str) -> subprocess.Popen[str]:
        client = [
            "compare",
            "--fleet",
            "hosts.toml",
            "--rounds",
            str(rounds),
            "--warmup",
            "0",
            "--allocators",
            "glibc,heapwise",
            "--store",
            str(self.store),
            "--",
            "/bin/sleep",
            program,
        ]
        return subprocess.Popen(
            [str(self.clock.python), "-m", "heapwise", *client],
            env=self.environment,
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def stored(self) -> int:
        self.journals.look()
        return sum(map(len, self.journals.seen.values()))


@pytest.fixture
def laboratory(tmp_path: Path) -> Laboratory:
    return Laboratory(tmp_path)


def wait_until(condition: Callable[[], bool], client: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        assert client.poll() is None, client.communicate()
        time.sleep(0.1)


def seconds_in(text: str) -> float:
    """Of a duration as the view shows it: 0:45 or 1:02:03."""
    found = 0.0
    for part in text.split(":"):
        found = found * 60 + float(part)
    return found


def test_the_clock_is_the_one_of_running_processes(tmp_path: Path) -> None:
    clock = JumpingClock(tmp_path / "python")
    script = (
        "import sys, time\n"
        "for _ in sys.stdin:\n    print(time.time(), time.monotonic(), flush=True)\n"
    )
    with subprocess.Popen(
        [str(clock.python), "-c", script], stdin=subprocess.PIPE, text=True, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for jump in (0, 5 * HOUR_S, -9 * HOUR_S):
            clock.jump(jump)
            process.stdin.write("now\n")
            process.stdin.flush()
            wall, monotonic = map(float, process.stdout.readline().split())
            assert abs(wall - time.time() - clock.offset_s) < 60
            assert abs(monotonic - time.monotonic()) < 60
        process.stdin.close()


@pytest.mark.long
def test_jumps_lose_and_double_nothing_and_all_times_are_right(laboratory: Laboratory) -> None:
    client = laboratory.measure(ROUNDS, str(NAP_S))
    for jump in (5 * HOUR_S, -9 * HOUR_S):
        before = laboratory.stored()
        wait_until(lambda least=before + 10: laboratory.stored() > least, client)
        laboratory.clock.jump(jump)
    out, error = client.communicate(timeout=PATIENCE_S)
    assert client.returncode == 0, error
    assert laboratory.journals.demand_all(laboratory.store, ROUNDS) > 3 * ROUNDS
    passed = [seconds_in(found) for found in re.findall(r"([\d:]+) so far", out)]
    left = [seconds_in(found) for found in re.findall(r"eta ([\d:]+)", out)]
    assert passed == sorted(passed)
    assert left, out
    assert max([*passed, *left]) < SOON_S, out
    run = read_run(laboratory.store, next(iter(laboratory.journals.seen)))
    times = [float(s.values["wall_time"]) for s in run.samples if "wall_time" in s.values]
    assert min(times) >= NAP_S
    assert max(times) < SOON_S


def test_the_last_fleet_run_is_the_one_that_began_last(laboratory: Laboratory) -> None:
    for _ in range(2):
        client = laboratory.measure(3, "0")
        out, error = client.communicate(timeout=PATIENCE_S)
        assert client.returncode == 0, error
        laboratory.clock.jump(-7 * HOUR_S)
    second = re.search(r"fleet run (\w+)", out)
    assert second is not None
    status, _ = laboratory.start("fleet", "status").communicate(timeout=PATIENCE_S)
    assert status.startswith(second[1])
