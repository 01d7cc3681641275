"""``fleet/ID`` in the client's store: what was asked of which machines, and how far they are. With
it another client can collect.

``fleet.json`` is written once. ``machines.jsonl`` gets a line each time that the state of a machine
changes, so that 1,000 machines do not write 1,000 files of 1,000 machines.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import structs

from heapwise.errors import Problem
from heapwise.fleet.collected import mend, no_room
from heapwise.fleet.job import STALL_S, State
from heapwise.store import make_private_folder
from heapwise.store.private import FILE as PRIVATE
from heapwise.store.writer import write_atomically

FOLDER, FILE, JOURNAL, LOCK = "fleet", "fleet.json", "machines.jsonl", "lock"


class MachineState(msgspec.Struct, frozen=True):
    """attempts: how often the job was started. message: of the last one that failed."""

    state: State = "waiting"
    attempts: int = 0
    message: str = ""
    host: str = ""


class FleetRun(msgspec.Struct, frozen=True):
    """environment: as a run keeps it; secrets are not in it. machines: by name. sequence: larger
    than that of every fleet run that the store had before; it does not depend on a clock. stall_s:
    of each job."""

    id: str
    created: str
    target: str
    words: list[str]
    environment: dict[str, str]
    working_directory: str
    machines: dict[str, MachineState]
    count: int = 1
    sequence: int = 0
    stall_s: float = STALL_S


class _Change(msgspec.Struct, frozen=True):
    """A line of the journal."""

    machine: str
    now: MachineState


class _Place(msgspec.Struct, frozen=True):
    """What orders fleet runs. Those of earlier versions have no sequence: their dates decide."""

    id: str
    sequence: int = 0
    created: str = ""


@dataclass(frozen=True)
class FleetFile:
    """The stored state of one fleet run. path: of ``fleet.json``."""

    path: Path

    @classmethod
    def create(cls, store: Path, fleet: FleetRun) -> FleetFile:
        """It becomes the store's newest. Problems E050, E051."""
        file = cls(store / FOLDER / fleet.id / FILE)
        newest = max((place.sequence for place in _places(store)), default=0)
        numbered = structs.replace(fleet, sequence=newest + 1)
        content = msgspec.json.format(msgspec.json.encode(numbered), indent=2)
        try:
            make_private_folder(file.path.parent)
            write_atomically(file.path, content)
        except OSError as error:
            raise no_room(error, store, "what is asked of the machines", len(content)) from error
        return file

    def read(self) -> FleetRun:
        """Problem E061 if ``fleet.json`` is damaged. A torn line of the journal is passed over."""
        try:
            fleet = msgspec.json.decode(self.path.read_bytes(), type=FleetRun)
        except (OSError, msgspec.MsgspecError) as error:
            raise Problem("E061", f"{self.path}: {error}") from error
        changes = {change.machine: change.now for change in self._changes()}
        return structs.replace(fleet, machines=fleet.machines | changes)

    def note(self, states: Mapping[str, MachineState]) -> None:
        """Adds a line for each of these machines. Problems E050, E051."""
        lines = b"".join(msgspec.json.encode(_Change(*item)) + b"\n" for item in states.items())
        try:
            journal = os.open(
                self.journal, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE
            )
            with os.fdopen(journal, "r+b", buffering=0) as file:
                end = file.seek(0, os.SEEK_END)
                torn = end > 0 and os.pread(journal, 1, end - 1) != b"\n"
                file.write(b"\n" * torn + lines)
        except OSError as error:
            raise no_room(error, self.path.parent, "the states of machines", len(lines)) from error

    @contextmanager
    def owned(self) -> Iterator[bool]:
        """Whether this process alone collects the fleet run now. The kernel takes the lock back
        from a client that dies. A file system without locks is used without one."""
        lock = os.open(self.path.with_name(LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        try:
            yield _locked(lock)
        finally:
            os.close(lock)

    def mended_runs(self, store: Path) -> list[str]:
        """The runs of this fleet run that a dead client had left half replaced, and that are back
        now. None while a client collects, or if the store can only be read."""
        try:
            with self.owned() as is_owner:
                return mend(store, self.path.parent.name) if is_owner else []
        except OSError:
            return []

    @property
    def journal(self) -> Path:
        return self.path.with_name(JOURNAL)

    def _changes(self) -> Iterator[_Change]:
        decoder = msgspec.json.Decoder(_Change)
        lines = self.journal.read_bytes().splitlines() if self.journal.exists() else []
        for line in lines:
            try:
                yield decoder.decode(line)
            except msgspec.MsgspecError:
                continue


def new_fleet_id() -> str:
    return f"f{secrets.token_hex(3)}"


def find_fleet(store: Path, id: str) -> FleetFile:
    """The fleet run of this id. "last" is the one that was begun last, whatever the clock said.

    Problem E004 if the store does not have it."""
    places = {place.id: place for place in _places(store)}
    if id == "last" and places:
        id = max(places.values(), key=lambda place: (place.sequence, place.created, place.id)).id
    path = store / FOLDER / id / FILE
    if id in {path.parent.name for path in _files(store)}:
        return FleetFile(path)
    if not places:
        raise Problem(
            "E004",
            f"the store {store} has no fleet run",
            why="Nothing was measured with --fleet yet, or it is in another store (--store).",
            do="heapwise compare --fleet hosts.toml -- PROGRAM",
        )
    raise Problem("E004", f"the store {store} has no fleet run {id}", do="heapwise fleet status")


def reopened(file: FleetFile) -> FleetFile:
    """Machines that were given up are tried again."""
    file.note(
        {
            name: structs.replace(state, state="waiting")
            for name, state in file.read().machines.items()
            if state.state == "failed"
        }
    )
    return file


def _files(store: Path) -> list[Path]:
    return list((store / FOLDER).glob(f"*/{FILE}"))


def _places(store: Path) -> Iterator[_Place]:
    """Damaged ones are passed over: they are found by their names only."""
    for path in _files(store):
        try:
            yield msgspec.json.decode(path.read_bytes(), type=_Place)
        except (OSError, msgspec.MsgspecError):
            continue


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
