"""Run folders that came back become ordinary runs of the client's store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from heapwise.errors import Problem
from heapwise.store import make_private_folder
from heapwise.store.location import RUNS, SAMPLES_FILE


def keep(store: Path, run_id: str, files: Mapping[str, bytes]) -> bool:
    """Whether the store changed. Samples are only ever added to: a copy with fewer lines than the
    store has is older and is dropped. Problem E061 if they are another run's samples."""
    folder = store / RUNS / run_id
    new = files.get(SAMPLES_FILE, b"")
    old = _read(folder / SAMPLES_FILE)
    if not new.startswith(old) and not old.startswith(new):
        raise Problem("E061", f"{run_id} came back with other samples than the store has",
                      why="Both were measured, so neither is thrown away.",
                      do=f"move {folder} away, then heapwise fleet collect again")
    if len(new) < len(old) or all(_read(folder / name) == content
                                  for name, content in files.items()):
        return False
    _replace(folder, files)
    return True


def _replace(folder: Path, files: Mapping[str, bytes]) -> None:
    part = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    make_private_folder(part)
    for name, content in files.items():
        path = part / name
        if part.resolve() not in path.resolve().parents:
            raise Problem("E061", f"{folder.name} came back with a file {name} outside of it")
        make_private_folder(path.parent)
        path.write_bytes(content)
        path.chmod(0o600)
    if folder.exists():
        shutil.rmtree(folder)
    part.replace(folder)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
