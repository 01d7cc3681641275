"""Run folders that came back become ordinary runs of the client's store.

A run is replaced by renaming: the new folder is written whole beside it, the old one is renamed
aside, the new one takes its name, and the old one is deleted. A client that dies in between leaves
hidden folders, and ``mend`` of the next client finishes or undoes what was begun.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Mapping
from pathlib import Path

from heapwise.errors import Problem
from heapwise.fleet.kept_document import contents_of
from heapwise.fleet.run_document import state_in
from heapwise.store import make_private_folder
from heapwise.store.location import RUN_FILE, RUNS, SAMPLES_FILE
from heapwise.store.writer import DISK_FULL
from heapwise.wording.numbers import show

NEW, OLD = "new", "old"
"""Hidden names beside ``runs/NAME``: ``.NAME.new`` is being written, ``.NAME.old`` is replaced."""


def keep(store: Path, run_id: str, files: Mapping[str, bytes]) -> bool:
    """Whether the store changed. Samples are only ever added to: a copy with fewer lines than the
    store has is older and is dropped. A run.json that is torn never replaces a whole one. Problems:
    E061 if they are another run's samples, E051 if the client's disk is full."""
    folder = store / RUNS / run_id
    new = files.get(SAMPLES_FILE, b"")
    old = contents_of(folder / SAMPLES_FILE)
    if not new.startswith(old) and not old.startswith(new):
        raise Problem(
            "E061",
            f"{run_id} came back with other samples than the store has",
            why="Both were measured, so neither is thrown away.",
            do=f"move {folder} away, then heapwise fleet collect again",
        )
    files = _with_whole_document(folder, files)
    if len(new) < len(old) or all(
        contents_of(folder / name) == content for name, content in files.items()
    ):
        return False
    try:
        _replace(folder, files)
    except OSError as error:
        shutil.rmtree(_beside(folder, NEW), ignore_errors=True)
        mend_run(folder)
        raise no_room(error, folder.parent, run_id, sum(map(len, files.values()))) from error
    return True


def mend(store: Path, fleet: str) -> list[str]:
    """Finishes what a dead client left of the runs of a fleet run, and names the runs that it gave
    back. Requires that no other client collects this fleet run."""
    found = []
    for path in sorted((store / RUNS).glob(f".{fleet}-*.*")):
        name, _, mark = path.name[1:].rpartition(".")
        if mark in (NEW, OLD) and mend_run(path.with_name(name)):
            found.append(name)
    return found


def mend_run(folder: Path) -> bool:
    """Whether the old folder got its name back, as the new one had not taken it."""
    old, new = _beside(folder, OLD), _beside(folder, NEW)
    back = old.is_dir() and not folder.exists()
    if back:
        old.replace(folder)
    for left in (old, new):
        shutil.rmtree(left, ignore_errors=True)
    return back


def no_room(error: OSError, where: Path, what: str, needed: int) -> Problem:
    """E051 with the folder and how much is missing, E050 if the disk is not full."""
    if error.errno not in DISK_FULL:
        return Problem("E050", f"{where} cannot be written: {error.strerror}")
    free = shutil.disk_usage(where).free
    wanted = f"{show(needed, 'bytes')} are needed"
    left = (
        "the user's quota is used up"
        if error.errno == errno.EDQUOT
        else f"{show(free, 'bytes')} are free"
    )
    return Problem(
        "E051",
        f"no room in {where} of this machine for {what}: {wanted}, {left}",
        why="Nothing is lost: the machines keep what they measured, and measure on.",
        do="make room there, then heapwise fleet collect",
    )


def _with_whole_document(folder: Path, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """The files, with the store's own run.json if the one that came is torn and that one is not."""
    ours = contents_of(folder / RUN_FILE)
    if state_in(files.get(RUN_FILE, b"")) or not state_in(ours):
        return files
    return {**files, RUN_FILE: ours}


def _replace(folder: Path, files: Mapping[str, bytes]) -> None:
    mend_run(folder)
    part = _beside(folder, NEW)
    make_private_folder(part)
    for name, content in files.items():
        path = part / name
        if part.resolve() not in path.resolve().parents:
            raise Problem("E061", f"{folder.name} came back with a file {name} outside of it")
        make_private_folder(path.parent)
        path.write_bytes(content)
        path.chmod(0o600)
    if folder.exists():
        folder.replace(_beside(folder, OLD))
    part.replace(folder)
    shutil.rmtree(_beside(folder, OLD), ignore_errors=True)


def _beside(folder: Path, mark: str) -> Path:
    return folder.with_name(f".{folder.name}.{mark}")
