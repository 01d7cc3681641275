"""Ways to workers. Each engine has a scheduler's address and one worker for each machine."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from heapwise.errors import Problem
from heapwise.fleet.hosts import NAME, Host, read_hosts
from heapwise.fleet.local_processes import end, first_line, is_running, start_python
from heapwise.fleet.over_ssh import start_worker_over_ssh

START_S = 60.0
AGAIN_S = 5.0
"""Before a machine that could not be reached is tried again."""


class Engine(Protocol):
    """address: of the scheduler. machines: name -> the worker as Dask names it. reasons: machine ->
    why it has no worker."""

    address: str
    reasons: dict[str, str]

    def machines(self, client: Any) -> dict[str, str]: ...

    def mend(self, client: Any, machine: str) -> bool:
        """Whether the worker of a machine was gone and has been started again."""

    def is_alive(self) -> bool: ...

    def close(self) -> None: ...


class HostsEngine:
    """A scheduler of our own on the loopback; workers here or over ssh. Nothing listens to others:
    ssh carries both directions."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self.hosts = {host.name: host for host in hosts}
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.started_at: dict[str, float] = {}
        self.reasons: dict[str, str] = {}
        self.scheduler = start_python("heapwise.fleet.scheduler", stdout=subprocess.PIPE)
        try:
            self.address = first_line(self.scheduler)
            for name in self.hosts:
                self._start(name)
        except BaseException:
            self.close()
            raise

    def machines(self, client: Any) -> dict[str, str]:
        return {name: name for name in self.hosts}

    def mend(self, client: Any, machine: str) -> bool:
        worker = self.workers.get(machine)
        if worker is None and time.monotonic() - self.started_at[machine] < AGAIN_S:
            return False
        gone = worker is None or not is_running(worker)
        if not gone and time.monotonic() - self.started_at[machine] > START_S:
            known = client.scheduler_info(n_workers=-1)["workers"].values()
            gone = machine not in {worker["name"] for worker in known}
        if gone:
            if worker is not None:
                end(worker)
            self._start(machine)
        return gone

    def is_alive(self) -> bool:
        return is_running(self.scheduler)

    def close(self) -> None:
        for process in [*self.workers.values(), self.scheduler]:
            end(process)

    def _start(self, name: str) -> None:
        host = self.hosts[name]
        self.started_at[name] = time.monotonic()
        self.workers.pop(name, None)
        try:
            self.workers[name] = (
                start_worker_over_ssh(host, self.address) if host.ssh else
                start_python("heapwise.fleet.worker", self.address, "--name", name,
                             folder=host.folder))
        except Problem as problem:  # one machine that cannot be reached stops no other
            self.reasons[name] = problem.what


class RunningScheduler:
    """``dask:tcp://HOST:PORT``: somebody else's scheduler. One worker of each host is used."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.reasons: dict[str, str] = {}

    def machines(self, client: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        for address, worker in client.scheduler_info(n_workers=-1)["workers"].items():
            found.setdefault(machine_name(str(worker["host"])), address)
        return found

    def mend(self, client: Any, machine: str) -> bool:
        return False

    def is_alive(self) -> bool:
        return True

    def close(self) -> None:
        return


class ClusterEngine(RunningScheduler):
    """A cluster object of dask-jobqueue or dask-kubernetes, with one job or pod for each machine.

    Not tested against a real Slurm or Kubernetes: only the options that are passed are.
    """

    def __init__(self, cluster: Any, count: int) -> None:
        super().__init__(cluster.scheduler_address)
        self.cluster, self.count = cluster, count
        cluster.scale(count)

    def machines(self, client: Any) -> dict[str, str]:
        client.wait_for_workers(self.count, timeout=3600)
        return super().machines(client)

    def close(self) -> None:
        self.cluster.close()


def slurm_options(partition: str) -> dict[str, Any]:
    """Of dask-jobqueue's SLURMCluster: a whole node for each worker, and no nanny."""
    return {
        "queue": partition, "cores": 1, "processes": 1, "memory": "1GiB", "nanny": False,
        "job_directives_skip": ["--mem", "--cpus-per-task", "-n 1"],
        "job_extra_directives": ["--exclusive", "--nodes=1"],
        "worker_extra_args": ["--resources", "machine=1"], "python": sys.executable,
    }


def kubernetes_options(namespace: str) -> dict[str, Any]:
    """Of dask-kubernetes's KubeCluster. Pods of one node share it: a dedicated node pool is
    needed, as HostLock sees only its own pod."""
    return {
        "name": "heapwise-fleet", "namespace": namespace, "n_workers": 0,
        "worker_command": ["dask-worker", "--no-nanny", "--nthreads", "1",
                           "--resources", "machine=1"],
    }


def open_engine(target: str, count: int = 1) -> Engine:
    """target: a file of hosts, or ``dask:``, ``slurm:``, ``k8s:`` and what follows them. count:
    machines of a cluster. Problem E003, or E064 if a part is not installed."""
    kind, _, rest = target.partition(":")
    demand_engine()
    try:
        if kind == "dask" and rest:
            return RunningScheduler(rest)
        if kind == "slurm" and rest:
            from dask_jobqueue.slurm import SLURMCluster
            return ClusterEngine(SLURMCluster(**slurm_options(rest)), count)
        if kind == "k8s" and rest:
            from dask_kubernetes.operator import KubeCluster
            return ClusterEngine(KubeCluster(**kubernetes_options(rest)), count)
    except ImportError as error:
        extra = {"slurm": "fleet-slurm", "k8s": "fleet-k8s"}.get(kind, "fleet")
        raise Problem("E064", f"{error.name} is not installed",
                      do=f"pip install 'heapwise[{extra}]'") from error
    return HostsEngine(read_hosts(Path(target)))


def demand_engine() -> None:
    """Problem E064 if Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise Problem("E064", f"{error.name} is not installed") from error


def machine_name(host: str) -> str:
    """A name of a machine from what Dask calls its host."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", host).strip("-")[:32]
    return name if NAME.fullmatch(name) else "machine"
