"""A scheduler of Dask that runs already. Its workers have two addresses of this host, and so count
as two machines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from heapwise.fleet.engines.local_processes import first_line, start_python

PATIENCE_S = 240.0


class Cluster:
    """address: of the scheduler. Workers are of Dask's own command."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.scheduler = start_python("heapwise.fleet.engines.scheduler", stdout=subprocess.PIPE)
        stack.callback(self._end, self.scheduler)
        self.address = first_line(self.scheduler)

    def add_worker(self, host: str) -> None:
        environment = os.environ | {
            "HEAPWISE_FLEET_LOCK": str(self.folder / "lock"),
            "HEAPWISE_FLEET_FOLDER": str(self.folder / host),
        }
        self.stack.callback(
            self._end,
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "distributed.cli.dask_worker",
                    self.address,
                    "--host",
                    host,
                    "--no-nanny",
                    "--nthreads",
                    "1",
                    "--no-dashboard",
                ],
                env=environment,
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ),
        )

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)


def client(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "heapwise", *words],
        cwd=folder,
        text=True,
        env=os.environ | {"HEAPWISE_STORE": str(folder / "store")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def states(process: subprocess.Popen[str]) -> dict[str, str]:
    out, error = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, error
    machines = json.loads(out)["fleet"]["machines"]
    return {name: state["state"] for name, state in machines.items()}


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_machines_that_connect_later_take_part(cluster: Cluster, tmp_path: Path) -> None:
    """The program waits until the second machine has its job, so the first is not done before."""
    cluster.add_worker("127.0.0.2")
    measuring = client(
        tmp_path,
        "compare",
        "--fleet",
        f"dask:{cluster.address}",
        "--rounds",
        "5",
        "--json",
        "--allocators",
        "glibc,heapwise",
        "--",
        "/bin/sh",
        "-c",
        f"until test -e {tmp_path}/go; do sleep 0.1; done",
    )
    wait_until(lambda: bool(list(tmp_path.glob("127.0.0.2/jobs/*/pid"))))
    cluster.add_worker("127.0.0.3")
    wait_until(lambda: bool(list(tmp_path.glob("127.0.0.3/jobs/*"))))
    (tmp_path / "go").touch()
    assert states(measuring) == {"127-0-0-2": "complete", "127-0-0-3": "complete"}
    cluster.add_worker("127.0.0.4")
    wait_until(lambda: "127-0-0-4" in states(client(tmp_path, "fleet", "collect", "--json")))
    assert len(list(tmp_path.glob("store/runs/*-127-0-0-*"))) == 3
