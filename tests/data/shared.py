"""What the processes of one run of pytest need is made by the first of them that needs it."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

Result = TypeVar("Result")


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder of this run of pytest, which all its processes have."""
    folder = factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


def result_once(
    factory: pytest.TempPathFactory, name: str, work: Callable[[Path], Result]
) -> Result:
    """The result of ``work``, which the first process that asks calls, with a folder of this name
    for what it writes. The others wait. If it raises, the next one that asks calls it again."""
    folder = shared_folder(factory) / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = folder / ".result"
        if not result.exists():
            unfinished = folder / ".unfinished"
            unfinished.write_bytes(pickle.dumps(work(folder)))
            unfinished.rename(result)
        found: Result = pickle.loads(result.read_bytes())
        return found


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder of this name, after ``make`` has filled it, in this process or in another one."""

    def fill(folder: Path) -> Path:
        make(folder)
        return folder

    return result_once(factory, name, fill)
