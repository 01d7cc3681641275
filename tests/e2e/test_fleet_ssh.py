"""Machines with networks of their own and a real sshd each, on one kernel.

It shows the protocol: sending Heapwise, forwarding, a worker over ssh, a broken connection, a slow
one with stalls, a full disk. The machines are of one kind, and the network is a pair of virtual
cables; where it is slow, ssh goes through a process that delays.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from fleet_faults.machines import Machines, why_not

SLOW_PIPE = Path(__file__).resolve().parents[1] / "data/slow_pipe.py"
SLOW = f"ProxyCommand={sys.executable} {SLOW_PIPE} %h %p 0.1 2"


@pytest.fixture
def options() -> tuple[str, ...]:
    """More of ssh's."""
    return ()


@pytest.fixture
def machines(tmp_path: Path, options: tuple[str, ...]) -> Iterator[Machines]:
    if reason := why_not():
        pytest.skip(reason)
    with Machines(tmp_path, 2, "64m", options) as found:
        yield found


def heapwise(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "heapwise", *words],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.slow
def test_machines_over_ssh_measure_and_survive_a_cut_cable(
    machines: Machines, tmp_path: Path
) -> None:
    checked = heapwise(tmp_path, "fleet", "check", "hosts.toml", "--json")
    out, _ = checked.communicate(timeout=200)
    found = json.loads(out)
    assert all("error" not in facts for facts in found.values()), found
    client = heapwise(
        tmp_path,
        "compare",
        "--fleet",
        "hosts.toml",
        "--store",
        "store",
        "--rounds",
        "30",
        "--allocators",
        "glibc,heapwise",
        "--json",
        "--",
        "/bin/sleep",
        "0.05",
    )
    wait_for_samples(tmp_path, client, ("m1", "m2"))
    machines.machines["m1"].plug("down")
    time.sleep(2)
    machines.machines["m1"].plug("up")
    assert_complete(client, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("options", [("-o", SLOW)], ids=["slow"])
@pytest.mark.usefixtures("machines")
def test_a_network_with_delays_and_stalls_loses_nothing(tmp_path: Path) -> None:
    client = heapwise(
        tmp_path,
        "compare",
        "--fleet",
        "hosts.toml",
        "--store",
        "store",
        "--rounds",
        "10",
        "--allocators",
        "glibc,heapwise",
        "--json",
        "--",
        "/bin/sleep",
        "0.05",
    )
    assert_complete(client, tmp_path)


@pytest.mark.slow
def test_a_machine_with_a_full_disk_says_so_and_goes_on_when_there_is_room(
    machines: Machines, tmp_path: Path
) -> None:
    client = heapwise(
        tmp_path,
        "compare",
        "--fleet",
        "hosts.toml",
        "--store",
        "store",
        "--rounds",
        "40",
        "--allocators",
        "glibc,heapwise",
        "--json",
        "--",
        "/bin/sleep",
        "0.05",
    )
    wait_for_samples(tmp_path, client, ("m1",))
    filler = machines.machines["m1"].folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
    out, err = client.communicate(timeout=600)
    states = json.loads(out)["fleet"]["machines"]
    assert states["m2"]["state"] == "complete", err
    assert states["m1"]["state"] == "failed"
    assert "no room" in states["m1"]["message"] or "No space" in states["m1"]["message"]
    before = samples_of(tmp_path, "m1")
    assert before
    filler.unlink()
    assert_complete(heapwise(tmp_path, "fleet", "collect", "--store", "store", "--json"), tmp_path)
    assert samples_of(tmp_path, "m1").startswith(before)


def samples_of(folder: Path, machine: str) -> str:
    """What the client has of it."""
    return next(folder.glob(f"store/runs/*-{machine}/samples.jsonl")).read_text()


def wait_for_samples(folder: Path, client: subprocess.Popen[str], names: Sequence[str]) -> None:
    """Until one of these machines has stored some."""
    deadline = time.monotonic() + 120
    while not any(list(folder.glob(f"{name}/jobs/*/store/runs/*/samples.jsonl")) for name in names):
        assert time.monotonic() < deadline, client.poll()
        time.sleep(0.2)


def assert_complete(client: subprocess.Popen[str], folder: Path) -> None:
    out, err = client.communicate(timeout=600)
    assert client.returncode == 0, err
    states = json.loads(out)["fleet"]["machines"]
    assert {state["state"] for state in states.values()} == {"complete"}
    assert len(list(folder.glob("store/runs/*-m[12]"))) == 2
