"""From the words of a user to a fleet run and the jobs of its machines."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from heapwise.errors import Problem
from heapwise.fleet.fleet_file import FleetRun, MachineState, new_fleet_id
from heapwise.fleet.hosts import read_hosts
from heapwise.fleet.job import STALL_S, Job, ShippedFile

WITH_VALUE = (
    "--fleet",
    "--store",
    "--export",
    "--output",
    "-o",
)
ALONE = ("--json", "--quiet", "-q", "--strict", "--debug")
"""What concerns the client and not the machines."""


def words_for_machines(words: Sequence[str]) -> list[str]:
    """The verb and its options without those that concern the client. Words after -- stay."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*kept, word, *rest]
        if word in WITH_VALUE:
            next(rest, None)
        elif word not in ALONE and not word.startswith(tuple(f"{o}=" for o in WITH_VALUE)):
            kept.append(word)
    return kept


def new_fleet(
    target: str,
    words: Sequence[str],
    environment: Mapping[str, str],
    count: int,
    stall_s: float = STALL_S,
) -> FleetRun:
    """Machines of a hosts file are known now, others when their workers are."""
    from heapwise.catalog import peer_prefixes
    from heapwise.runner.process.environment import to_store

    known = [] if target.startswith(("dask:", "slurm:", "k8s:")) else read_hosts(Path(target))
    ours = {n: v for n, v in environment.items() if not n.startswith("HEAPWISE_")}
    absolute = target if not known else str(Path(target).absolute())
    return FleetRun(
        new_fleet_id(),
        datetime.now(UTC).isoformat(timespec="seconds"),
        absolute,
        words_for_machines(words),
        to_store(ours, peer_prefixes()),
        str(Path.cwd()),
        {host.name: MachineState() for host in known},
        count,
        stall_s=stall_s,
    )


def jobs_of(fleet: FleetRun, environment: Mapping[str, str]) -> Callable[[str], Job]:
    """Values that were not stored are those of today, as with ``resume``."""
    from heapwise.fleet.sent_peers import added_peers, kind_of_programs
    from heapwise.runner.process.environment import from_store

    folder = Path(fleet.working_directory)
    files = [_shipped(word, folder) for word in fleet.words]
    shipped = [file for file in files if file is not None]
    values = from_store(fleet.environment, environment)
    peers, kind = added_peers(), kind_of_programs()

    def job(machine: str) -> Job:
        return Job(
            fleet.id,
            machine,
            fleet.words,
            values,
            fleet.environment,
            fleet.working_directory,
            shipped,
            stall_s=fleet.stall_s,
            peers=peers,
            kind=kind,
        )

    return job


def _is_file(path: Path) -> bool:
    """No error if it is longer than a path can be, as a script for a shell may be."""
    try:
        return path.is_file()
    except OSError:
        return False


def _shipped(word: str, folder: Path) -> ShippedFile | None:
    """A word that names a file, with a path or as a program of PATH that is not the system's."""
    path = folder / word
    if "/" not in word and not _is_file(path):
        found = shutil.which(word)
        if found is None or found.startswith(("/usr/", "/bin/")):
            return None
        path = Path(found)
    if not _is_file(path):
        return None
    try:
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        size = path.stat().st_size
    except OSError as error:
        raise Problem("E056", f"{path}: {error.strerror}") from error
    return ShippedFile(word, str(path), digest, os.access(path, os.X_OK), size)
