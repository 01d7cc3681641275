"""The Python packages of programs: fetched by pip with hashes, all of them or none."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from heapwise.builder.partial import partial, publish
from heapwise.builder.trees import PIP
from heapwise.builder.workshop import BuildProgress, Workshop, plain_environment
from heapwise.catalog import PROGRAMS, RECORD, ProgramWheels, data_folder


@dataclass(frozen=True)
class WheelsAdded:
    """``news`` is False for packages that were there already."""

    name: str
    version: str
    path: str
    news: bool


def add_wheels(
    wheels: ProgramWheels, progress: BuildProgress, *, again: bool = False
) -> WheelsAdded:
    """Fetches what the lock names into the user's data folder.

    Problems: E055 pip failed (its log is named), E050 no folder.
    """
    if wheels.is_here and not again:
        return WheelsAdded(wheels.name, wheels.version, str(wheels.folder), news=False)
    with partial(data_folder() / PROGRAMS, wheels.name) as (folder, log):
        shop = Workshop(wheels.name, folder, log, progress, plain_environment(os.environ))
        ready = folder / "out"
        ready.mkdir()
        shop.run(
            f"fetching what {wheels.lock.name} names",
            [sys.executable, *PIP, "--target", str(ready), "--requirement", str(wheels.lock)],
            ready,
        )
        record = {"made": datetime.now(UTC).isoformat(timespec="seconds")}
        (ready / RECORD).write_bytes(msgspec.json.encode(record))
        publish(ready, wheels.folder)
    return WheelsAdded(wheels.name, wheels.version, str(wheels.folder), news=True)
