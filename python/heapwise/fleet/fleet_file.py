"""``fleet/ID/fleet.json`` in the client's store: what was asked of which machines, and how far
they are. With it another client can collect."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import structs

from heapwise.errors import Problem
from heapwise.fleet.job import State
from heapwise.store import make_private_folder
from heapwise.store.writer import write_atomically

FOLDER, FILE = "fleet", "fleet.json"


class MachineState(msgspec.Struct, frozen=True):
    """attempts: how often the job was started. message: of the last one that failed."""

    state: State = "waiting"
    attempts: int = 0
    message: str = ""
    host: str = ""


class FleetRun(msgspec.Struct, frozen=True):
    """environment: as a run keeps it; secrets are not in it. machines: by name."""

    id: str
    created: str
    target: str
    words: list[str]
    environment: dict[str, str]
    working_directory: str
    machines: dict[str, MachineState]
    count: int = 1


@dataclass(frozen=True)
class FleetFile:
    """The stored state of one fleet run."""

    path: Path

    @classmethod
    def create(cls, store: Path, fleet: FleetRun) -> FleetFile:
        file = cls(store / FOLDER / fleet.id / FILE)
        make_private_folder(file.path.parent)
        file.write(fleet)
        return file

    def read(self) -> FleetRun:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=FleetRun)
        except (OSError, msgspec.MsgspecError) as error:
            raise Problem("E061", f"{self.path}: {error}") from error

    def write(self, fleet: FleetRun) -> None:
        write_atomically(self.path, msgspec.json.format(msgspec.json.encode(fleet), indent=2))


def new_fleet_id() -> str:
    return f"f{secrets.token_hex(3)}"


def find_fleet(store: Path, id: str) -> FleetFile:
    """"last" is the newest. Problem E004 for one that the store does not have."""
    found = sorted((store / FOLDER).glob(f"*/{FILE}"), key=lambda path: path.stat().st_mtime)
    if id == "last" and found:
        return FleetFile(found[-1])
    for path in found:
        if path.parent.name == id:
            return FleetFile(path)
    raise Problem("E004", f"{store} has no fleet run {id}", do="heapwise fleet status")


def reopened(file: FleetFile) -> FleetFile:
    """Machines that were given up are tried again."""
    fleet = file.read()
    machines = {name: structs.replace(state, state="waiting") if state.state == "failed" else state
                for name, state in fleet.machines.items()}
    file.write(structs.replace(fleet, machines=machines))
    return file
