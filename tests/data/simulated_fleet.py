"""Machines that are threads of one scheduler: real messages and files, nothing measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from heapwise.fleet.engines.quiet_engine import QUIET
from heapwise.fleet.fleet_campaign import FleetCampaign
from heapwise.fleet.fleet_file import FleetFile, FleetRun, MachineState
from heapwise.fleet.job import Job
from heapwise.fleet.plan_progress import PlanProgress

FLEET = "f1"
WORKERS = 4


class Silent:
    """A watcher that shows nothing."""

    def machines(
        self,
        states: Mapping[str, MachineState],
        progress: Mapping[str, PlanProgress],
        elapsed_s: float,
    ) -> None:
        return


class SimulatedMachines:
    """An engine whose workers are threads of a LocalCluster; each serves many names."""

    grows = False

    def __init__(self, names: Sequence[str], workers: int) -> None:
        import dask.config
        import distributed

        dask.config.set(QUIET)
        make_cluster: Any = distributed.LocalCluster  # its types are not declared
        self.cluster: Any = make_cluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            resources={"machine": 1},
            host="127.0.0.1",
            protocol="tcp",
        )
        self.address: str = self.cluster.scheduler_address
        self.names = names
        self.reasons: dict[str, str] = {}

    def machines(self, client: Any) -> dict[str, str]:
        found = list(client.scheduler_info(n_workers=-1)["workers"])
        return {name: found[place % len(found)] for place, name in enumerate(self.names)}

    def mend(self, known: Collection[str], needed: Collection[str]) -> set[str]:
        return set()

    def is_alive(self) -> bool:
        return True

    def close(self) -> None:
        self.cluster.close()


def job_in(content: bytes) -> Job:
    return msgspec.msgpack.decode(content, type=Job)


def simulate(
    store: Path, count: int, task: Callable[[bytes], bytes]
) -> tuple[FleetFile, FleetRun, float]:
    """A fleet run of ``count`` machines whose job is ``task``, and the seconds that the client
    took."""
    names = [f"m{number}" for number in range(count)]
    file = FleetFile.create(
        store,
        FleetRun(
            FLEET, "", "hosts.toml", ["compare"], {}, "/", {name: MachineState() for name in names}
        ),
    )
    begun = time.monotonic()
    campaign = FleetCampaign(
        file,
        store,
        lambda name: Job(FLEET, name, ["compare"], {}, {}, "/"),
        lambda: SimulatedMachines(names, WORKERS),
        Silent(),
        task=task,
    )
    return file, campaign.go(), time.monotonic() - begun
