"""The runs of a store, oldest first, and which of them a user means."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from heapwise.errors import Problem
from heapwise.store import codec, index
from heapwise.store.index import IndexedRun
from heapwise.store.location import RUN_FILE, RUNS, SAMPLES_FILE
from heapwise.store.lock import is_locked
from heapwise.store.run_file import read_run_file
from heapwise.wording.suggest import did_you_mean

CLOCK_ERROR = timedelta(minutes=10)
"""By how much the clocks of two machines that share a store may differ."""

FEW = 32
"""Fewer runs are read about as fast as an index."""

NEWEST = ("last", "latest")
"""Names of the newest run."""


@dataclass(frozen=True)
class Listing:
    """What a listing says of a run. Of one that cannot be read, only ``created`` may be known."""

    folder: Path
    id: str
    created: str
    kind: str = ""
    state: str = ""
    smoke: bool = False
    command_line: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    experiments: list[str] = field(default_factory=list)
    problem: str = ""
    """Why it cannot be read."""

    @property
    def shown_state(self) -> str:
        """A run that says it is running, and that no process writes, was cut off."""
        if self.state == "running" and not is_locked(self.folder / SAMPLES_FILE):
            return "interrupted"
        return self.state


def list_runs(store: Path | str) -> list[Listing]:
    """All runs, oldest first. Runs that are not in the store's index yet are read and added."""
    files = dict(_run_files(Path(store) / RUNS))
    known = index.load(Path(store)) if len(files) >= FEW else {}
    entries: dict[bytes, IndexedRun] = {}
    found: list[Listing] = []
    for folder, stamp in files.items():
        name = os.fsencode(folder.name)
        entry = known.get(name)
        listing = _from_entry(folder, entry) if entry and entry.stamp == stamp else None
        if listing is None:
            listing = _read(folder)
            entry = _to_entry(name, stamp, listing)
        if entry and not listing.problem:
            entries[name] = entry
        found.append(listing)
    if entries != known and len(files) >= FEW:
        index.save(Path(store), entries.values())
    return sorted(found, key=_place(datetime.now(UTC) + CLOCK_ERROR))


def _place(latest: datetime) -> Callable[[Listing], tuple[bool, str, str]]:
    """By date; a date that is still to come is that of a wrong clock, and never the newest run."""
    limit = latest.isoformat()
    return lambda run: (run.created <= limit, run.created, run.folder.name)


def run_ids(store: Path | str) -> list[str]:
    """Names of the folders of all runs, oldest first."""
    return [listing.folder.name for listing in list_runs(store)]


def resolve_run(store: Path, run_id: str) -> Path:
    """The folder of a run. Problem E004 with the nearest ids when there is none."""
    as_folder = Path(run_id)
    if "/" in run_id and (as_folder / RUN_FILE).exists():
        return as_folder.absolute()
    ids = run_ids(store)
    if ids and (back := _back_from_newest(run_id)) is not None:
        if back < len(ids):
            return store / RUNS / ids[-1 - back]
        raise Problem(
            "E004", f"no run '{run_id}': {store} has {len(ids)}", do="heapwise report --list"
        )
    matches = [run_id] if run_id in ids else [name for name in ids if name.startswith(run_id)]
    if len(matches) == 1 and run_id:
        return store / RUNS / matches[0]
    if not ids:
        raise empty_store(store, "" if run_id in NEWEST else run_id)
    raise Problem("E004", _no_such_run(store, run_id, ids, matches))


def _back_from_newest(run_id: str) -> int | None:
    """0 for ``last``, 2 for ``last~2`` and ``last~~``, as git names what is before; None for an
    id."""
    name, tilde, number = run_id.partition("~")
    if name not in NEWEST:
        return None
    if not tilde:
        return 0
    if number.isascii() and number.isdigit():
        return int(number)
    return 1 + len(number) if not number.strip("~") else None


def empty_store(store: Path, run_id: str = "") -> Problem:
    """The problem of a run, or of any run, that is wanted from a store without runs."""
    return Problem(
        "E004",
        f"{f'no run {run_id!r}: ' if run_id else ''}the store {store} is empty",
        why="Nothing was measured yet, or the runs are in another store (--store).",
        do="heapwise compare -- PROGRAM",
    )


def _no_such_run(store: Path, run_id: str, ids: list[str], matches: list[str]) -> str:
    if run_id and len(matches) > 1:
        return f"'{run_id}' is the beginning of {len(matches)} runs: {', '.join(matches)}"
    hint = did_you_mean(run_id, [*ids, NEWEST[0]], f"the last one is {ids[-1]}")
    return f"no run '{run_id}' in {store}{hint}"


def _run_files(runs: Path) -> Iterator[tuple[Path, str]]:
    """Each folder that has a ``run.json``, with the stamp of that file."""
    try:
        folders = list(runs.iterdir())
    except OSError:
        return
    for folder in folders:
        try:
            status = (folder / RUN_FILE).stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            yield folder, ""  # reading it will say why
        else:
            yield folder, index.stamp(status)


def _read(folder: Path) -> Listing:
    try:
        run = read_run_file(folder)
    except Problem as problem:
        return Listing(folder, folder.name, _created(folder), problem=problem.what)
    plan = run.plan
    return Listing(
        folder,
        run.id,
        run.created,
        plan.kind,
        run.state,
        plan.smoke,
        run.command_line,
        plan.command,
        plan.experiments,
    )


def _created(folder: Path) -> str:
    """The time of a run that cannot be read for another reason."""
    try:
        document = codec.decode_object(codec.read_regular(folder / RUN_FILE))
    except (OSError, ValueError):
        return ""
    return str(document.get("created", ""))


def _to_entry(name: bytes, stamp: str, listing: Listing) -> IndexedRun:
    command_line, command, experiments = (
        msgspec.json.encode(words).decode()
        for words in (listing.command_line, listing.command, listing.experiments)
    )
    return IndexedRun(
        name,
        stamp,
        listing.id,
        listing.created,
        listing.kind,
        listing.state,
        listing.smoke,
        command_line,
        command,
        experiments,
    )


def _from_entry(folder: Path, entry: IndexedRun) -> Listing | None:
    """None for a damaged entry."""
    try:
        command_line, command, experiments = (
            msgspec.json.decode(text, type=list[str])
            for text in (entry.command_line, entry.command, entry.experiments)
        )
    except ValueError:
        return None
    return Listing(
        folder,
        entry.id,
        entry.created,
        entry.kind,
        entry.state,
        entry.smoke,
        command_line,
        command,
        experiments,
    )
