"""Building beside the place: all of it is put there, or nothing."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heapwise.catalog import LOGS, PARTIAL, RECORD
from heapwise.errors import Problem
from heapwise.store import make_private_folder


@contextmanager
def partial(base: Path, name: str) -> Iterator[tuple[Path, Path]]:
    """A folder to build in, on the same file system as ``base/name``; and a log that stays.

    Problems: E050 when ``base`` cannot be written, E055 when the disk is full.
    """
    try:
        logs = base / LOGS
        make_private_folder(logs)
        home = base / name
        home.mkdir(exist_ok=True)
        _sweep(home)
        folder = Path(tempfile.mkdtemp(prefix=f"{PARTIAL}{os.getpid()}-", dir=home))
    except OSError as error:
        raise Problem(
            "E050",
            f"{base} cannot be written: {error.strerror}",
            why="What is added is built into the user's data folder.",
            do="make room there, or set XDG_DATA_HOME to a folder that you may write",
        ) from error
    log = logs / f"{name}.log"
    log.write_bytes(b"")
    try:
        yield folder, log
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise Problem("E055", f"{name}: the disk is full", do=f"make room in {home}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not any(home.iterdir()):
            home.rmdir()


def _sweep(home: Path) -> None:
    """Removes what builds left that were killed before they could clean up."""
    for old in home.glob(f"{PARTIAL}*"):
        owner = old.name.removeprefix(PARTIAL).partition("-")[0]
        if not Path(f"/proc/{owner}").exists():
            shutil.rmtree(old, ignore_errors=True)


def publish(ready: Path, target: Path) -> None:
    """Puts the new version where it is looked for and takes every older one away.

    Only a folder with a record of its making is an older version.
    """
    old = target.parent / f"{PARTIAL}{os.getpid()}-old"
    if target.exists():
        target.rename(old)
    ready.rename(target)
    for path in target.parent.iterdir():
        older = (path / RECORD).is_file() and not path.name.startswith(PARTIAL)
        if path == old or (older and path != target):
            shutil.rmtree(path, ignore_errors=True)
