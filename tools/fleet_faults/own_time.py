"""How long a fleet run takes beside the slowest of its machines. Nothing strikes it."""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path

import msgspec

from fleet_faults.client import Client
from fleet_faults.journals import Journals
from fleet_faults.machines import Machines

PROGRAM = ("/bin/sleep", "0.5")


class Times(msgspec.Struct, frozen=True):
    """total_s: from the command to its end. slowest_s: of the machine that took longest, from its
    first process to its last."""

    machines: int
    rounds: int
    total_s: float
    slowest_s: float


def time_fleet(folder: Path, machines: int, rounds: int) -> Times:
    """Each machine sleeps, so that all have the processors that they need. Requires
    ``not why_not()``."""
    with Machines(folder, machines) as laboratory:
        begun = time.monotonic()
        client = Client(folder, laboratory.store, [
            "compare", "--fleet", str(laboratory.hosts), "--rounds", str(rounds), "--allocators",
            "glibc,heapwise", "--", *PROGRAM])
        try:
            while not client.is_done():
                time.sleep(0.1)
        finally:
            client.kill()
        total_s = time.monotonic() - begun
        journals = Journals({m.name: m.folder for m in laboratory.machines.values()})
        journals.demand_all(client.store, rounds)
    return Times(machines, rounds, total_s, max(map(_own_s, journals.seen.values())))


def _own_s(lines: list[str]) -> float:
    """The last process is counted as long as the program sleeps."""
    starts = [datetime.fromisoformat(record["started_at"]) for record in map(json.loads, lines)
              if record["kind"] == "process"]
    return (max(starts) - min(starts)).total_seconds() + float(PROGRAM[1])
