"""A copy of what a listing says of each run, so that a listing need not open every run.

It also keeps the medians of each run, of which histories are made (``points``), and how far the
baseline of each comparison was from itself (``scores``).

The index is never the truth. It is an SQLite database that is read whole and replaced whole, so no
command waits for another one's lock, and none sees half of a change. An index that is missing,
damaged, of another version or another user's is ignored.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from heapwise.store.ownership import is_own
from heapwise.store.writer import write_atomically

if TYPE_CHECKING:
    import sqlite3

INDEX_FILE = "index.sqlite"

VERSION = 8
"""Raise it when a column is added, or means another thing."""

TABLE = """create table runs (
    name blob primary key, stamp text, id text, created text, kind text, state text, smoke integer,
    command_line text, command text, experiments text)"""

KEPT_TABLE = "create table {} (name blob primary key, stamp text, content blob)"


class IndexedRun(NamedTuple):
    """A row. The lists are JSON.

    ``name`` is that of the run's folder. ``stamp`` is that of its ``run.json``.
    """

    name: bytes
    stamp: str
    id: str
    created: str
    kind: str
    state: str
    smoke: bool
    command_line: str
    command: str
    experiments: str


class Points(NamedTuple):
    """Medians or scores of a run, as JSON, with the name of its folder and the stamp of its
    files."""

    name: bytes
    stamp: str
    content: bytes


IndexRow = TypeVar("IndexRow", IndexedRun, Points)


def stamp(status: os.stat_result) -> str:
    """It changes when the file is replaced or written."""
    return f"{status.st_size}.{status.st_mtime_ns}.{status.st_ino}"


def load(store: Path) -> dict[bytes, IndexedRun]:
    """The entries by name. Empty if there is no index, or none that can be used."""
    return _load(store, "runs", IndexedRun)


def load_points(store: Path) -> dict[bytes, Points]:
    """The same of what is known for histories."""
    return _load(store, "points", Points)


def load_scores(store: Path) -> dict[bytes, Points]:
    """The same of what is known for calibrations."""
    return _load(store, "scores", Points)


def _load(store: Path, table: str, kind: type[IndexRow]) -> dict[bytes, IndexRow]:
    try:
        import sqlite3

        content = _read_private(store / INDEX_FILE)
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(content)
            if _version(database) != VERSION:
                return {}
            rows = database.execute(f"select {', '.join(kind._fields)} from {table}").fetchall()
        entries = [msgspec.convert(row, kind, strict=False) for row in rows]
    except (ImportError, AttributeError, OSError, ValueError, MemoryError):
        return {}  # AttributeError: an SQLite that is built without deserialize()
    except sqlite3.Error:
        return {}
    return {entry.name: entry for entry in entries}


def save(
    store: Path,
    entries: Iterable[IndexedRun] | None = None,
    points: Iterable[Points] | None = None,
    scores: Iterable[Points] | None = None,
) -> None:
    """Replaces what is given of the index. Does nothing if that fails, or if the store is not the
    user's alone."""
    if not _is_private(store):
        return
    try:
        import sqlite3
    except ImportError:
        return
    with suppress(OSError, AttributeError, MemoryError, sqlite3.Error):
        write_atomically(
            store / INDEX_FILE,
            _content(
                load(store).values() if entries is None else entries,
                load_points(store).values() if points is None else points,
                load_scores(store).values() if scores is None else scores,
            ),
        )


def _content(
    entries: Iterable[IndexedRun], points: Iterable[Points], scores: Iterable[Points]
) -> bytes:
    import sqlite3

    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(TABLE)
        for table in ("points", "scores"):
            database.execute(KEPT_TABLE.format(table))
        marks = ", ".join("?" for _ in IndexedRun._fields)
        database.executemany(f"insert into runs values ({marks})", entries)
        database.executemany("insert into points values (?, ?, ?)", points)
        database.executemany("insert into scores values (?, ?, ?)", scores)
        database.execute(f"pragma user_version = {VERSION}")
        database.commit()
        return database.serialize()


def _version(database: sqlite3.Connection) -> int:
    found: tuple[int] = database.execute("pragma user_version").fetchone()
    return found[0]


def _is_private(store: Path) -> bool:
    """Another user's store gets no file of ours, which that user could not replace."""
    try:
        return store.stat().st_uid == os.geteuid() and is_own(store)
    except OSError:
        return False


def _read_private(path: Path) -> bytes:
    """OSError for a link, ValueError for a file that others own or can write."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if (
            not stat.S_ISREG(status.st_mode)
            or status.st_uid != os.geteuid()
            or (status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
        ):
            raise ValueError("it is not the user's own file")
        return file.read()
