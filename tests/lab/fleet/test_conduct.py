"""Many simulated machines through the real scheduler, with stubs that store a few lines."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heapwise.fleet.conduct import FleetCampaign
from heapwise.fleet.fleet_file import FleetFile, FleetRun, MachineState, find_fleet, reopened
from heapwise.fleet.job import Job, Outcome
from heapwise.fleet.plan_progress import PlanProgress
from heapwise.fleet.quiet_engine import QUIET
from heapwise.model.by_machine import ByMachine, MachineRow
from heapwise.report.fleet_page import fleet_page

BROKEN = "m7"


class Silent:
    def machines(self, states: Mapping[str, MachineState],
                 progress: Mapping[str, PlanProgress], elapsed_s: float) -> None:
        return


class SimulatedMachines:
    """An engine whose workers are threads of a LocalCluster; each serves many names."""

    def __init__(self, names: list[str], workers: int) -> None:
        import dask.config
        from distributed import LocalCluster

        dask.config.set(QUIET)
        self.cluster: Any = LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=None,
            resources={"machine": 1}, host="127.0.0.1", protocol="tcp")
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


def stub(content: bytes) -> bytes:
    job = msgspec.msgpack.decode(content, type=Job)
    if job.machine == BROKEN:
        return msgspec.msgpack.encode(Outcome(job.machine, "incomplete", 3, "the disk is full"))
    files = {"run.json": b"{}", "samples.jsonl": f"{job.machine}\n".encode()}
    return msgspec.msgpack.encode(Outcome(job.machine, "complete", 0, "", files))


def simulate(store: Path, count: int) -> tuple[FleetRun, float]:
    """The fleet run, and how long the client took in seconds."""
    names = [f"m{number}" for number in range(count)]
    file = FleetFile.create(store, FleetRun(
        "f1", "", "hosts.toml", ["compare"], {}, "/", {name: MachineState() for name in names}))
    begun = time.monotonic()
    campaign = FleetCampaign(
        file, store, lambda name: Job("f1", name, ["compare"], {}, {}, "/"),
        lambda: SimulatedMachines(names, 4), Silent(), task=stub)
    return campaign.go(), time.monotonic() - begun


@pytest.fixture
def quiet_log() -> Iterator[None]:
    import logging

    level = logging.getLogger("distributed").level
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("distributed").setLevel(level)


@pytest.mark.usefixtures("quiet_log")
@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_every_machine_is_collected_and_the_broken_one_is_named(
    tmp_path: Path, count: int
) -> None:
    fleet, _ = simulate(tmp_path, count)
    states = fleet.machines
    assert states.pop(BROKEN) == MachineState("failed", 4, "the disk is full")
    assert {state.state for state in states.values()} == {"complete"}
    assert {state.attempts for state in states.values()} == {1}
    for name in states:
        samples = tmp_path / "runs" / f"f1-{name}" / "samples.jsonl"
        assert samples.read_text() == f"{name}\n"
    assert len(list((tmp_path / "runs").iterdir())) == count - 1
    again = reopened(find_fleet(tmp_path, "last")).read()
    assert again.machines[BROKEN].state == "waiting"


def test_the_page_of_1000_machines_has_a_row_for_each() -> None:
    rows = [MachineRow(f"m{n}", "h", "k", "cpu", 2, "Linux", "glibc", 0.9, 0.8, 1.0, "better",
                       "good") for n in range(1000)]
    page = fleet_page("f1", "heapwise <b>", [ByMachine("a", "time", "", rows, 1000, 0)],
                      [("m<i>", "no <room>")])
    assert page.count('<th scope="row">') == 1000
    assert "better on 1000 of 1000 machines" in page
    assert "<room>" not in page
