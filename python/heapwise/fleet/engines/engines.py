"""Ways to workers. Each engine has a scheduler's address and one worker for each machine."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, Protocol

from heapwise.errors import Problem
from heapwise.fleet.engines.hosts_engine import HostsEngine
from heapwise.fleet.engines.workers import connected_workers
from heapwise.fleet.hosts import NAME, read_hosts


class Engine(Protocol):
    """address: of the scheduler. grows: machines that connect later take part too. reasons:
    machine -> why it has no worker."""

    address: str
    grows: bool
    reasons: dict[str, str]

    def machines(self, client: Any) -> dict[str, str]:
        """Name -> the address of its worker, of those that are connected now. The scheduler is
        asked once for all."""

    def mend(self, known: Collection[str], needed: Collection[str]) -> set[str]:
        """Those of the needed machines whose worker was gone and is being started again. known:
        names of machines that are connected."""

    def is_alive(self) -> bool: ...

    def close(self) -> None: ...


class RunningScheduler:
    """``dask:tcp://HOST:PORT``: somebody else's scheduler. One worker of each host is used."""

    grows = True

    def __init__(self, address: str) -> None:
        self.address = address
        self.reasons: dict[str, str] = {}

    def machines(self, client: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        for address, worker in connected_workers(client).items():
            found.setdefault(machine_name(str(worker["host"])), address)
        return found

    def mend(self, known: Collection[str], needed: Collection[str]) -> set[str]:
        return set()

    def is_alive(self) -> bool:
        return True

    def close(self) -> None:
        return


class ClusterEngine(RunningScheduler):
    """A cluster object of dask-jobqueue or dask-kubernetes, with one job or pod for each machine.

    A test runs it against a real Slurm of one node; of Kubernetes only the options are tested.
    """

    grows = False

    def __init__(self, cluster: Any, count: int) -> None:
        super().__init__(cluster.scheduler_address)
        self.cluster, self.count, self._has_waited = cluster, count, False
        cluster.scale(count)

    def machines(self, client: Any) -> dict[str, str]:
        if not self._has_waited:
            client.wait_for_workers(self.count, timeout=3600)
            self._has_waited = True
        return super().machines(client)

    def close(self) -> None:
        self.cluster.close()


def _slurm(partition: str) -> Any:
    """Its scheduler is in this process, so the settings are too."""
    from dask_jobqueue.slurm import SLURMCluster

    from heapwise.fleet.engines.cluster_options import slurm_options
    from heapwise.fleet.engines.quiet_engine import make_quiet

    make_quiet()
    return SLURMCluster(**slurm_options(partition))


def _kubernetes(namespace: str) -> Any:
    from dask_kubernetes.operator import KubeCluster

    from heapwise.fleet.engines.cluster_options import kubernetes_options

    options = kubernetes_options(namespace)
    try:
        return KubeCluster(**options)
    except ImportError:
        raise
    except Exception as error:  # whatever the clients of Kubernetes raise
        raise Problem(
            "E065",
            f"Kubernetes gave no cluster: {type(error).__name__}: {error}",
            do="see that kubectl reaches the namespace and that Dask's operator is installed there",
        ) from error


CLUSTERS = {"slurm": _slurm, "k8s": _kubernetes}


def open_engine(target: str, count: int = 1) -> Engine:
    """target: a file of hosts, or ``dask:``, ``slurm:``, ``k8s:`` and what follows them. count:
    machines of a cluster. Problem E003, or E064 if a part is not installed or does not answer."""
    kind, _, rest = target.partition(":")
    demand_engine()
    try:
        if kind == "dask" and rest:
            return RunningScheduler(rest)
        if kind in CLUSTERS and rest:
            return ClusterEngine(CLUSTERS[kind](rest), count)
    except ImportError as error:
        extra = {"slurm": "fleet-slurm", "k8s": "fleet-k8s"}.get(kind, "fleet")
        raise Problem(
            "E064", f"{error.name} is not installed", do=f"pip install 'heapwise[{extra}]'"
        ) from error
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
