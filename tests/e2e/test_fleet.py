"""A fleet of processes on this machine: the how-to, and faults at every part.

It shows that nothing is lost or doubled when parts of one machine's processes die. It shows nothing
about networks or about machines that differ.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fleet_faults.journals import Journals

ROOT = Path(__file__).resolve().parents[2]
HOW_TO = ROOT / "docs/how-to/measure-on-many-machines.md"
PATIENCE_S = 240.0


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "HEAPWISE_STORE"} | {
        "HEAPWISE_FLEET_LOCK": str(tmp_path / "lock"),
        "HEAPWISE_FLEET_FOLDER": str(tmp_path / "machines"),
    }


def heapwise(
    environment: dict[str, str], folder: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "heapwise", *words],
        env=environment,
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_the_how_to_works_as_it_is_written(environment: dict[str, str], tmp_path: Path) -> None:
    text = HOW_TO.read_text()
    found = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert found is not None
    assert len(found[1].strip().splitlines()) == 2
    (tmp_path / "hosts.toml").write_text(found[1])
    command = re.search(r"^heapwise (compare --fleet .*)$", text, re.MULTILINE)
    assert command is not None
    words = [*command[1].split(), "--store", "store", "--json"]
    place = words.index("--")
    words = [*words[:place], *words[-3:], *words[place:-3]]
    done = heapwise(environment, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {s["state"] for s in document["fleet"]["machines"].values()} == {"complete"}
    assert all(len(table["rows"]) == 2 for table in document["by_machine"])
    assert list(tmp_path.glob("store/fleet/*/by-machine.html"))
    checked = heapwise(environment, tmp_path, "fleet", "check", "hosts.toml")
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.count("doctor: ") == 2


def test_a_machine_that_cannot_be_reached_is_named_and_stops_no_other(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "hosts.toml").write_text(
        'one = "local"\ntwo = { ssh = "127.0.0.1", options = ["-p", "1"] }\n'
    )
    done = heapwise(
        environment,
        tmp_path,
        "compare",
        "--fleet",
        "hosts.toml",
        "--store",
        "store",
        "--rounds",
        "3",
        "--allocators",
        "glibc,heapwise",
        "--",
        "/bin/true",
    )
    assert done.returncode == 3, done.stderr
    assert re.search(r"Failed +two: two: ssh", done.stdout)
    status = heapwise(environment, tmp_path, "fleet", "status", "--store", "store")
    assert "one: complete, started 1 times" in status.stdout
    assert "two: failed" in status.stdout


def test_a_gate_fails_if_a_metric_regressed_on_a_machine(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "hosts.toml").write_text('one = "local"\n')
    for name, times in (("old", 20_000), ("new", 200_000)):
        loop = f"i=0; while [ $i -lt {times} ]; do i=$((i+1)); done"
        (tmp_path / name).write_text(f"#!/bin/sh\n{loop}\n")
        (tmp_path / name).chmod(0o755)
    words = ["gate", "--fleet", "hosts.toml", "--store", "store", "--strict", "--json"]
    words += ["--base", "./old", "--new", "./new", "--limit", "time=10%", "--time", "60s"]
    refused = heapwise(environment, tmp_path, *words, "--export", "gate.xml")
    assert refused.returncode == 2
    assert "--export and --fleet do not go together" in refused.stderr
    done = heapwise(environment, tmp_path, *words)
    assert done.returncode == 1, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["gates"]["one"]["exit_code"] == 1
    assert "--strict" in document["fleet"]["words"]
    again = heapwise(environment, tmp_path, "fleet", "collect", "--store", "store")
    assert again.returncode == 1
    assert "Machine      one" in again.stdout


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return 0


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


class Fleet:
    """A client whose processes are killed, and another client after it."""

    def __init__(self, environment: dict[str, str], folder: Path, rounds: int) -> None:
        self.environment, self.folder = environment, folder
        self.store, self.machines = folder / "store", folder / "machines"
        (folder / "hosts.toml").write_text('one = "local"\ntwo = "local"\n')
        self.client = self.start(
            "compare",
            "--fleet",
            "hosts.toml",
            "--store",
            str(self.store),
            "--rounds",
            str(rounds),
            "--warmup",
            "0",
            "--allocators",
            "glibc,heapwise",
            "--",
            "/bin/sleep",
            "0.03",
        )

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "heapwise", *words],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def part(self, mark: str) -> list[int]:
        pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        return [
            pid for pid in pids if parent_of(pid) == self.client.pid and mark in command_of(pid)
        ]

    def measuring(self) -> list[int]:
        found = []
        for path in self.machines.glob("jobs/*/pid"):
            pid = int(path.read_text() or 0)
            if str(self.machines) in command_of(pid):
                found.append(pid)
        return found

    def hit(self, kind: str) -> bool:
        """Whether something was there to be hit."""
        if kind == "client":
            self.client.kill()
            self.client.wait()
            self.client = self.start("fleet", "collect", "--store", str(self.store))
            return True
        part, sign = kind.split()
        finders: dict[str, Callable[[], list[int]]] = {
            "measuring": self.measuring,
            "worker": lambda: self.part("heapwise.fleet.engines.worker"),
            "scheduler": lambda: self.part("heapwise.fleet.engines.scheduler"),
        }
        number = signal.SIGKILL if sign == "kill" else signal.SIGSTOP
        for pid in finders[part]():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
            return True
        return False


KINDS = [
    "measuring kill",
    "worker kill",
    "client",
    "measuring kill",
    "scheduler kill",
    "worker stop",
    "scheduler stop",
]


def run_faults(
    environment: dict[str, str],
    folder: Path,
    faults: int,
    rounds: int,
    *,
    least: int,
    seed: int = 17,
) -> None:
    """faults: at most; least: that must have struck before the fleet run was done."""
    fleet, chance = Fleet(environment, folder, rounds), random.Random(seed)
    journals = Journals(dict.fromkeys(("one", "two"), fleet.machines))
    hits, until = 0, time.monotonic() + PATIENCE_S
    try:
        while fleet.client.poll() != 0:
            assert time.monotonic() < until, "the fleet never ended"
            if fleet.client.poll():  # given up for too many faults: the user collects
                fleet.client = fleet.start("fleet", "collect", "--store", str(fleet.store))
            time.sleep(chance.uniform(0.1, 0.8))
            journals.look()
            if hits < faults:
                hits += fleet.hit(KINDS[hits % len(KINDS)])
    finally:
        fleet.client.kill()
        fleet.client.wait()
        for pid in fleet.measuring():
            os.kill(pid, signal.SIGKILL)
    assert hits >= least, f"the fleet was done after {hits} of {faults} faults"
    assert journals.demand_all(fleet.store, rounds)


def test_faults_lose_and_double_nothing(environment: dict[str, str], tmp_path: Path) -> None:
    """Each kind once, or in ``make test-long`` about twice."""
    faults = 15 if os.environ.get("HEAPWISE_TIER") == "long" else len(KINDS)
    run_faults(environment, tmp_path, faults, 40, least=3)
