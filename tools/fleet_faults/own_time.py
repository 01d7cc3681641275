"""How long a fleet run takes beside the slowest of its machines. Nothing strikes it."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from fleet_faults.client import Client
from fleet_faults.journals import Journals
from fleet_faults.machines import Machines

PROGRAM = ("/bin/sleep", "0.5")


class Times(msgspec.Struct, frozen=True):
    """total_s: from the command to its end. slowest_s: of the machine that took longest, from the
    start of the process that measures there to its result."""

    machines: int
    rounds: int
    total_s: float
    slowest_s: float


def time_fleet(folder: Path, machines: int, rounds: int) -> Times:
    """Each machine sleeps most of its time, as they share the processors. Requires
    ``not why_not()``."""
    with Machines(folder, machines) as laboratory:
        begun = time.monotonic()
        client = Client(
            folder,
            laboratory.store,
            [
                "compare",
                "--fleet",
                str(laboratory.hosts),
                "--rounds",
                str(rounds),
                "--allocators",
                "glibc,heapwise",
                "--",
                *PROGRAM,
            ],
        )
        try:
            while not client.is_done():
                time.sleep(0.1)
        finally:
            client.kill()
        total_s = time.monotonic() - begun
        journals = Journals({m.name: m.folder for m in laboratory.machines.values()})
        journals.demand_all(client.store, rounds)
        slowest_s = max(map(_own_s, journals.folders.values()))
    return Times(machines, rounds, total_s, slowest_s)


def _own_s(machine: Path) -> float:
    """Its ``heapwise compare`` writes its result at its end."""
    job = next(machine.glob("jobs/*"))
    return (job / "log").stat().st_mtime - (job / "pid").stat().st_mtime
