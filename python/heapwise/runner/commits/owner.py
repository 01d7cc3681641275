"""Which process of which machine made a folder in a cache that several of them may share."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

_PROC = Path("/proc")


def own_name() -> str:
    """The name of this process, as a part of a folder's name. It has no "-"."""
    return f"{_place()}_{os.getpid()}"


def has_ended(name: str) -> bool:
    """Whether a process of this machine, in whose containers other processes have the same numbers,
    gave this name and is gone. False for all other names."""
    place, _, number = name.rpartition("_")
    return place == _place() and number.isdigit() and not (_PROC / number).exists()


def _place() -> str:
    host = re.sub(r"[^A-Za-z0-9]", "", platform.node())
    return f"{host}_{(_PROC / 'self/ns/pid').stat().st_ino}"
