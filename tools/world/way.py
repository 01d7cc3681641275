"""The ways in which a program is run: plainly, and with each part of Heapwise that can be in it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from world.program import Program

LIBRARIES = {
    "default": "libheapwise-malloc.so",
    "guarded": "libheapwise-malloc-guarded.so",
    "hardened": "libheapwise-malloc-hardened.so",
    "count": "libheapwise-count.so",
}
COUNTS, TRACE, STORE = "counts", "trace.hwt", "store"
"""Files beside the folder in which the program runs."""


class Way(Enum):
    """Libraries by their name are preloaded, and the rest are verbs of the laboratory."""

    PLAIN = "plain"
    DEFAULT = "default"
    GUARDED = "guarded"
    HARDENED = "hardened"
    COUNT = "count"
    RECORD = "record"
    PROFILE = "profile"
    COMPARE = "compare"

    @property
    def is_verb(self) -> bool:
        """Whether the laboratory starts the program, after it has looked at it."""
        return self in (Way.RECORD, Way.PROFILE, Way.COMPARE)


@dataclass(frozen=True)
class Start:
    """What is started: words and further variables. patience: how many limits it may take.
    counts: the file that each process inherits open, as the laboratory's launcher does it."""

    words: Sequence[str]
    variables: dict[str, str]
    patience: float = 1
    counts: Path | None = None


def start_of(
    program: Program,
    way: Way,
    command: Sequence[str],
    beside: Path,
    native: Path,
) -> Start:
    """How the program is started in this way. beside: a folder for what Heapwise writes."""
    if not way.is_verb:
        counts = beside / COUNTS if way is Way.COUNT else None
        return Start(command, _preloaded(way, native), counts=counts)
    verb = _compare(program, beside) if way is Way.COMPARE else _record(program, way, beside)
    heapwise = [sys.executable, "-m", "heapwise", *verb, "--", *command]
    return Start(heapwise, {"HEAPWISE_NATIVE": str(native)}, 8 if way is Way.COMPARE else 3)


def _preloaded(way: Way, native: Path) -> dict[str, str]:
    return {} if way is Way.PLAIN else {"LD_PRELOAD": str(native / LIBRARIES[way.value])}


def _record(program: Program, way: Way, beside: Path) -> list[str]:
    how = ["--profile"] if way is Way.PROFILE else ["--follow"] if program.follow else []
    return ["record", "--quiet", *how, "--max-size", "64M", "-o", str(beside / TRACE)]


def _compare(program: Program, beside: Path) -> list[str]:
    words = [
        "compare",
        "--allocators",
        "glibc,heapwise",
        "-r",
        "1",
        "--warmup",
        "0",
        "--fresh-dir",
        "--timeout",
        f"{program.limit_s:g}s",
        "--store",
        str(beside / STORE),
    ]
    words += ["--ignore-output"] if program.varies else []
    return words + (["--ignore-exit", str(program.exit)] if program.exit else [])
