"""Machines with networks of their own and a real sshd each, on one kernel.

It shows the protocol: sending Heapwise, forwarding, a worker over ssh, a broken connection, a slow
one with stalls, a full disk. The machines are of one kind, and the network is a pair of virtual
cables; where it is slow, ssh goes through a process that delays.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

NAMES = ("hwfleet1", "hwfleet2")
SLOW_PIPE = Path(__file__).resolve().parents[1] / "data/slow_pipe.py"
SLOW = f"ProxyCommand={sys.executable} {SLOW_PIPE} %h %p 0.1 2"


def run(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def why_not() -> str:
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in ("ip", "ssh", "sshd", "ssh-keygen"):
        if shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
            return f"{tool} is not installed (openssh-server, iproute2)"
    added = subprocess.run(["ip", "netns", "add", "hwfleet0"], capture_output=True, check=False)
    if added.returncode:
        return "network namespaces are not allowed here"
    run("ip", "netns", "del", "hwfleet0")
    return ""


@pytest.fixture
def options() -> list[str]:
    """More of ssh's."""
    return []


@pytest.fixture
def hosts(tmp_path: Path, options: list[str]) -> Iterator[Path]:
    """A hosts file of two namespaces, each with an sshd."""
    if reason := why_not():
        pytest.skip(reason)
    Path("/run/sshd").mkdir(exist_ok=True)
    key, servers = tmp_path / "key", []
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    lines = []
    try:
        for number, name in enumerate(NAMES, 1):
            there = f"10.213.{number}.2"
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"{name}a", "type", "veth", "peer", f"{name}b", "netns", name)
            run("ip", "addr", "add", f"10.213.{number}.1/24", "dev", f"{name}a")
            run("ip", "link", "set", f"{name}a", "up")
            inside = ("ip", "netns", "exec", name, "ip")
            run(*inside, "addr", "add", f"{there}/24", "dev", f"{name}b")
            run(*inside, "link", "set", f"{name}b", "up")
            run(*inside, "link", "set", "lo", "up")
            servers.append(subprocess.Popen(
                ["ip", "netns", "exec", name, "/usr/sbin/sshd", "-D", "-f", "/dev/null",
                 "-h", str(key), "-o", "PidFile=none", "-o", f"ListenAddress={there}",
                 "-o", f"AuthorizedKeysFile={key}.pub", "-o", "StrictModes=no",
                 "-o", "PermitRootLogin=yes"], stderr=subprocess.DEVNULL))
            words = ["-i", str(key), "-o", "StrictHostKeyChecking=no",
                     "-o", "UserKnownHostsFile=/dev/null", *options]
            folder = tmp_path / name
            lines.append(f'm{number} = {{ ssh = "root@{there}", python = "{sys.executable}", '
                         f'folder = "{folder}", options = {json.dumps(words)} }}\n')
        path = tmp_path / "hosts.toml"
        path.write_text("".join(lines))
        yield path
    finally:
        for server in servers:
            server.terminate()
            server.wait()
        for name in NAMES:  # the cable first: a namespace goes only when its last process is gone
            for words in (["link", "del", f"{name}a"], ["netns", "del", name]):
                subprocess.run(["ip", *words], capture_output=True, check=False)


def heapwise(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "heapwise", *words], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_machines_over_ssh_measure_and_survive_a_cut_cable(hosts: Path, tmp_path: Path) -> None:
    checked = heapwise(tmp_path, "fleet", "check", "hosts.toml", "--json")
    out, _ = checked.communicate(timeout=200)
    found = json.loads(out)
    assert all("error" not in facts for facts in found.values()), found
    client = heapwise(tmp_path, "compare", "--fleet", "hosts.toml", "--store", "store", "--rounds",
                      "30", "--allocators", "glibc,heapwise", "--json", "--", "/bin/sleep", "0.05")
    wait_for_samples(tmp_path, client, NAMES)
    run("ip", "link", "set", "hwfleet1a", "down")
    time.sleep(2)
    run("ip", "link", "set", "hwfleet1a", "up")
    assert_complete(client, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("options", [["-o", SLOW]], ids=["slow"])
@pytest.mark.usefixtures("hosts")
def test_a_network_with_delays_and_stalls_loses_nothing(tmp_path: Path) -> None:
    client = heapwise(tmp_path, "compare", "--fleet", "hosts.toml", "--store", "store", "--rounds",
                      "10", "--allocators", "glibc,heapwise", "--json", "--", "/bin/sleep", "0.05")
    assert_complete(client, tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """The first machine's folder. An sshd has its own view of what is mounted: it comes later."""
    if reason := why_not():
        pytest.skip(reason)
    disk = tmp_path / NAMES[0]
    disk.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=64m", "none", str(disk))
    yield disk
    run("umount", "--lazy", str(disk))


@pytest.mark.slow
@pytest.mark.usefixtures("small_disk", "hosts")
def test_a_machine_with_a_full_disk_says_so_and_goes_on_when_there_is_room(
    small_disk: Path, tmp_path: Path
) -> None:
    client = heapwise(tmp_path, "compare", "--fleet", "hosts.toml", "--store", "store",
                      "--rounds", "40", "--allocators", "glibc,heapwise", "--json", "--",
                      "/bin/sleep", "0.05")
    wait_for_samples(tmp_path, client, NAMES[:1])
    filler = small_disk / "filler"
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
    assert_complete(heapwise(tmp_path, "fleet", "collect", "--store", "store", "--json"),
                    tmp_path)
    assert samples_of(tmp_path, "m1").startswith(before)


def samples_of(folder: Path, machine: str) -> str:
    """What the client has of it."""
    return next(folder.glob(f"store/runs/*-{machine}/samples.jsonl")).read_text()


def wait_for_samples(folder: Path, client: subprocess.Popen[str], names: Sequence[str]) -> None:
    """Until one of these machines has stored some."""
    deadline = time.monotonic() + 120
    while not any(list(folder.glob(f"{name}/jobs/*/store/runs/*/samples.jsonl"))
                  for name in names):
        assert time.monotonic() < deadline, client.poll()
        time.sleep(0.2)


def assert_complete(client: subprocess.Popen[str], folder: Path) -> None:
    out, err = client.communicate(timeout=600)
    assert client.returncode == 0, err
    states = json.loads(out)["fleet"]["machines"]
    assert {state["state"] for state in states.values()} == {"complete"}
    assert len(list(folder.glob("store/runs/*-m[12]"))) == 2
