"""What the processes of one run of pytest need is made by the first of them that needs it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder of this run of pytest, which all its processes have."""
    folder = factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder of this name, after ``make`` has filled it, in this process or in another one.
    What fails is tried again by the next that needs it."""
    folder = shared_folder(factory) / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        whole = folder / ".whole"
        if not whole.exists():
            make(folder)
            whole.touch()
    return folder
