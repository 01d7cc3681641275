"""The machines of a hosts file: a scheduler of our own, and a worker on each."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Collection, Sequence
from typing import Any

from heapwise.errors import Problem
from heapwise.fleet.engines.local_processes import end_all, first_line, is_running, start_python
from heapwise.fleet.engines.over_ssh import start_worker_over_ssh
from heapwise.fleet.engines.workers import connected_workers
from heapwise.fleet.hosts import Host
from heapwise.fleet.starts import Starts

START_S = 60.0
AGAIN_S = 5.0
"""Before a machine that could not be reached is tried again."""


class HostsEngine:
    """A scheduler of our own on the loopback; workers here or over ssh. Nothing listens to others:
    ssh carries both directions."""

    grows = False

    def __init__(self, hosts: Sequence[Host]) -> None:
        self.hosts = {host.name: host for host in hosts}
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.started_at: dict[str, float] = {}
        self.reasons: dict[str, str] = {}
        self.starts = Starts(self._worker)
        self.scheduler = start_python("heapwise.fleet.engines.scheduler", stdout=subprocess.PIPE)
        try:
            self.address = first_line(self.scheduler)
            for name in self.hosts:
                self._start(name)
        except BaseException:
            self.close()
            raise

    def machines(self, client: Any) -> dict[str, str]:
        return {
            worker["name"]: address
            for address, worker in connected_workers(client).items()
            if worker["name"] in self.hosts
        }

    def mend(self, known: Collection[str], needed: Collection[str]) -> set[str]:
        self._take_started()
        missing = {name for name in needed if self._is_gone(name, known)}
        for name in missing:
            self._start(name)
        return missing

    def is_alive(self) -> bool:
        return is_running(self.scheduler)

    def close(self) -> None:
        end_all([*self.starts.close(), *self.workers.values(), self.scheduler])

    def _is_gone(self, name: str, known: Collection[str]) -> bool:
        if self.starts.under_way(name):
            return False
        worker, since_s = self.workers.get(name), time.monotonic() - self.started_at[name]
        if worker is None:
            return since_s >= AGAIN_S
        return not is_running(worker) or (since_s > START_S and name not in known)

    def _start(self, name: str) -> None:
        self.started_at[name] = time.monotonic()
        self.starts.begin(name, self.workers.pop(name, None))

    def _take_started(self) -> None:
        for name, worker in self.starts.take().items():
            self.started_at[name] = time.monotonic()
            if isinstance(worker, Problem):
                self.reasons[name] = worker.what
            else:
                self.workers[name] = worker
                self.reasons.pop(name, None)

    def _worker(self, name: str) -> subprocess.Popen[bytes]:
        host = self.hosts[name]
        if host.ssh:
            return start_worker_over_ssh(host, self.address)
        return start_python(
            "heapwise.fleet.engines.worker", self.address, "--name", name, folder=host.folder
        )
