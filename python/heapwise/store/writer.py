"""Writing a run so that nothing that was measured can be lost again."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from heapwise.errors import Problem
from heapwise.model import Process, Run, Sample
from heapwise.model.json_value import Json
from heapwise.store import codec
from heapwise.store.location import RUN_FILE, RUNS, SAMPLES_FILE
from heapwise.store.lock import lock
from heapwise.store.private import FILE, FOLDER, make_private_folder
from heapwise.store.run_file import read_document, read_run_file

CREATED = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def new_run_id(store_path: Path) -> str:
    """Four hex digits that no run of this store has; more when the store is crowded."""
    for digits in (4, 4, 4, 4, 6, 8, 16):
        run_id = _hex_with_a_letter(digits)
        if not (store_path / RUNS / run_id).exists():
            return run_id
    return _hex_with_a_letter(32)


def _hex_with_a_letter(digits: int) -> str:
    """So that nobody takes it for a number."""
    while (word := secrets.token_hex(digits // 2)).isdigit():
        pass
    return word


class RunWriter:
    """The open folder of one run. Every line is one write(2) at the end of the file.

    No other process can write the run until this one is closed or ends: Problem E006 for it.
    """

    def __init__(self, folder: Path, run: Run, document: dict[str, Json]) -> None:
        self.folder = folder
        self.run = run
        self._document = document
        try:
            self._samples = os.open(
                folder / SAMPLES_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, FILE
            )
        except OSError as error:
            raise _problem(error, folder) from error
        try:
            lock(self._samples, folder)
        except Problem:
            os.close(self._samples)
            raise

    @classmethod
    def create(cls, store_path: Path, run: Run) -> Self:
        """A new run folder. Problem E050 when the store cannot be written, E051 when full."""
        folder = store_path / RUNS / run.id
        try:
            make_private_folder(folder.parent)
            folder.mkdir(FOLDER)
            write_atomically(folder / RUN_FILE, _document_bytes(run, {}))
        except OSError as error:
            raise _problem(error, store_path) from error
        return cls(folder, run, {})

    @classmethod
    def reopen(cls, folder: Path) -> Self:
        """A run that goes on. A torn last line is closed off, so that it damages no other."""
        writer = cls(folder, read_run_file(folder), {})
        try:
            # Only now can nobody else change it: another process may have, since it was read.
            writer.run, writer._document = read_run_file(folder), read_document(folder)
            writer._close_torn_line()
        except BaseException:
            writer.close()
            raise
        return writer

    def append(self, record: Process | Sample) -> None:
        """Problem E051 when the disk is full; what was written of the line is cut off again."""
        line = codec.encode(record) + b"\n"
        end = os.lseek(self._samples, 0, os.SEEK_END)
        try:
            written = os.write(self._samples, line)
            while written < len(line):
                written += os.write(self._samples, line[written:])
        except OSError as error:
            self._cut(end)
            raise _problem(error, self.folder) from error

    def update(self, run: Run) -> None:
        """Replaces ``run.json`` at once, or leaves the old one whole."""
        try:
            write_atomically(self.folder / RUN_FILE, _document_bytes(run, self._document))
        except OSError as error:
            raise _problem(error, self.folder) from error
        self.run = run

    def close(self) -> None:
        if self._samples >= 0:
            _sync(self._samples)
            os.close(self._samples)
            self._samples = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _cut(self, end: int) -> None:
        with suppress(OSError):  # the reader skips a torn line anyway
            os.ftruncate(self._samples, end)

    def _close_torn_line(self) -> None:
        path = self.folder / SAMPLES_FILE
        with path.open("rb") as lines:
            size = lines.seek(0, os.SEEK_END)
            if size == 0:
                return
            lines.seek(size - 1)
            whole = lines.read(1) == b"\n"
        if not whole:
            try:
                os.write(self._samples, b"\n")
            except OSError as error:
                raise _problem(error, self.folder) from error


def write_atomically(path: Path, content: bytes) -> None:
    """Temporary file, fsync, rename: a reader sees the old file or the new one, never half."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(temporary, CREATED, FILE), "wb") as file:
            file.write(content)
            file.flush()
            _sync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def check_writable(store_path: Path) -> None:
    """Problem E050 or E051 before anything is measured, rather than after."""
    trial = store_path / RUNS / f".trial.{os.getpid()}"
    try:
        make_private_folder(trial.parent)
        trial.write_bytes(b"heapwise\n")
        trial.unlink()
    except OSError as error:
        with suppress(OSError):
            trial.unlink(missing_ok=True)
        problem = _problem(error, store_path)
        raise Problem(
            problem.id,
            problem.what,
            why="Nothing was measured, as nothing could be saved.",
            do=f"make room, or name a folder that you may write: --store /tmp/{store_path.name}",
        ) from error


def _document_bytes(run: Run, old: dict[str, Json]) -> bytes:
    document = codec.merge_unknown(old, run)
    return msgspec.json.format(codec.encode(document), indent=2) + b"\n"


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno in DISK_FULL or error.errno == errno.EIO:
            raise


def _problem(error: OSError, where: Path) -> Problem:
    if error.errno in DISK_FULL:
        return Problem("E051", f"no room left in {where}: {error.strerror}")
    return Problem("E050", f"{where} cannot be written: {error.strerror}")
