"""What several processes of one run of pytest need, and one of them does for all."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

Result = TypeVar("Result")


def folder_of_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the processes of this run share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


def done_once(folder: Path, name: str, work: Callable[[Path], Result]) -> Result:
    """The result of ``work``, which is called by the first process that asks, with a folder for
    what it writes. The others wait. If it raises, the next one that asks calls it again."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = place / "result"
        if not result.exists():
            unfinished = place / "unfinished"
            unfinished.write_bytes(pickle.dumps(work(place)))
            unfinished.rename(result)
        return pickle.loads(result.read_bytes())
