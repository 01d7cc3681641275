"""``python -m heapwise.fleet.probe``: what a machine is and has, as one line of JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from heapwise import __version__
from heapwise.catalog import find_peers
from heapwise.fleet.hosts import Host
from heapwise.fleet.machine_side import PACKAGE_ROOT, START
from heapwise.machine import read_machine
from heapwise.model.json_value import Json

PROBE_S = 120
ASKED_AT_ONCE = 16


def probe() -> dict[str, Json]:
    """peers: name -> version and build id of those that are installed."""
    from heapwise.analysis.across_runs.by_machine import kind_of_machine

    machine = read_machine()
    return {
        "heapwise": __version__,
        "distributed": _version("distributed"),
        "host": machine.host,
        "cpu": machine.cpu,
        "cores": machine.cores,
        "kernel": machine.kernel,
        "libc": machine.libc,
        "kind": kind_of_machine(machine),
        "doctor": _doctor(),
        "peers": {
            peer.name: [peer.version, peer.build_id]
            for peer in find_peers()
            if peer.path is not None
        },
    }


def probe_hosts(hosts: Sequence[Host]) -> dict[str, dict[str, Json]]:
    """By name; several machines are asked at once."""
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        return dict(zip((host.name for host in hosts), pool.map(probe_host, hosts), strict=True))


def probe_host(host: Host) -> dict[str, Json]:
    """The facts of a machine of a hosts file; ``error`` alone if it cannot be reached or asked."""
    from heapwise.errors import Problem

    try:
        return dict(json.loads(_over_ssh(host) if host.ssh else _here()))
    except Problem as problem:
        return {"error": f"{problem.what}. do: {problem.do}"}
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"error": f"its answer cannot be read: {error}"}


def _over_ssh(host: Host) -> str:
    from heapwise.fleet.engines.over_ssh import python_of, run_over_ssh, send_bundle

    folder = send_bundle(host)
    return run_over_ssh(
        host,
        f"export PYTHONPATH=$HOME/{folder} HEAPWISE_NATIVE=$HOME/{folder}"
        f"/native; {python_of(host)} -m heapwise.fleet.probe",
        timeout_s=PROBE_S,
    )


def _here() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "heapwise.fleet.probe"],
        capture_output=True,
        text=True,
        check=True,
        timeout=PROBE_S,
    )
    return done.stdout


def _doctor() -> str:
    """How many of its findings are good, noted or missing."""
    done = subprocess.run(
        [sys.executable, "-c", START, PACKAGE_ROOT, "doctor", "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PROBE_S,
        cwd=Path("/"),
    )
    try:
        states = [found["state"] for found in json.loads(done.stdout)["findings"]]
    except (ValueError, KeyError):
        return f"ended with {done.returncode}"
    return ", ".join(f"{states.count(state)} {state}" for state in ("good", "note", "missing"))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing: pip install 'heapwise[fleet]'"


if __name__ == "__main__":
    print(json.dumps(probe()))
