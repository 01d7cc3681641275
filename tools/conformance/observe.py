"""Runs one program, under one malloc, and reads what it saw."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT_S = 120


@dataclass(frozen=True)
class Row:
    """What a program saw. ``required``: what is promised, "" for nothing; ``why``: why the promise
    is stricter than the host's C library, "" where it is not."""

    item: str
    what: str
    value: str
    required: str
    why: str

    @property
    def holds(self) -> bool:
        return self.required in ("", self.value)


@dataclass(frozen=True)
class Sight:
    """All that came of one run; ``trouble`` is "" for a program that ran to its end."""

    program: str
    rows: tuple[Row, ...]
    trouble: str

    def of(self, item: str) -> list[Row]:
        """The rows of an item, without the one that says that it is done."""
        return [row for row in self.rows if row.item == item and row.what != "done"]

    def is_done(self, item: str) -> bool:
        return any(row.item == item and row.what == "done" for row in self.rows)


def parse(output: str) -> tuple[Row, ...]:
    """The rows of a program's output. ValueError for a line that is not a row."""
    rows = []
    for line in output.splitlines():
        fields = line.split("\t")
        if len(fields) != 5:
            raise ValueError(f"not a row: {line!r}")
        rows.append(Row(*fields))
    return tuple(rows)


def ending(status: int, error: str) -> str:
    """How a process ended, "" when it ended well."""
    if status == 0:
        return ""
    how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    last = error.strip().splitlines()[-1:] or ["nothing on standard error"]
    return f"{how}: {last[0]}"


def wrong_malloc(rows: tuple[Row, ...], library: Path | None) -> str:
    """Says so when the process did not use the library that it was given."""
    used = next((row.value for row in rows if row.item == "program"), "nobody's")
    if library is None or Path(used).resolve() == library.resolve():
        return ""
    return f"malloc was that of {used}, not of {library}"


def environment(library: Path | None, more: dict[str, str] | None = None) -> dict[str, str]:
    """The environment of the process: nothing of ours but the library (None: the C library's
    malloc)."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    preload = {"LD_PRELOAD": str(library)} if library else {}
    return kept | preload | (more or {})


def look(
    program: Path,
    library: Path | None,
    *arguments: str,
    more: dict[str, str] | None = None,
) -> Sight:
    """Runs ``program`` with ``library`` preloaded. It may write into the first of ``arguments``."""
    try:
        done = subprocess.run(
            [str(program), *arguments],
            env=environment(library, more),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT_S,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return Sight(program.name, (), f"no end after {TIME_LIMIT_S} s")
    try:
        rows = parse(done.stdout)
    except ValueError as error:
        return Sight(program.name, (), str(error))
    trouble = ending(done.returncode, done.stderr) or wrong_malloc(rows, library)
    return Sight(program.name, rows, trouble)
