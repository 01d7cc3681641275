"""The library that plants an effect, and what it really planted in each process."""

from __future__ import annotations

import bisect
import os
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from heapwise.model import LauncherFacts

SOURCE = Path(__file__).with_name("plant.c")
SLOT = struct.Struct("<qq")
SLOTS = 1 << 16
"""As in plant.c."""


def build_plant(folder: Path) -> Path:
    """The library, compiled into the folder. CalledProcessError if the compiler fails."""
    library = folder / "plant.so"
    words = ["cc", "-O2", "-shared", "-fPIC", "-pthread", str(SOURCE), "-o", str(library)]
    subprocess.run(words, check=True)
    return library


def new_record(file: Path) -> Path:
    """A file for the library to write into, without a program so far."""
    with file.open("wb") as opened:
        opened.truncate(SLOT.size * SLOTS)
    return file


def record_in_memory(name: str) -> Path:
    """As ``new_record``, without a file of a file system until this process ends: a program that
    changed a file would not be measured side by side with itself."""
    number = os.memfd_create(name)
    os.ftruncate(number, SLOT.size * SLOTS)
    return Path(f"/proc/{os.getpid()}/fd/{number}")


@dataclass(frozen=True)
class Paid:
    """What was planted in one program that was started. At its start, by the monotonic clock."""

    started_ns: int
    planted_ns: int


def read_record(file: Path) -> list[Paid]:
    """All programs of the file, in the order of their starts."""
    with file.open("rb") as opened:
        started, _ = SLOT.unpack(opened.read(SLOT.size))
        found = SLOT.iter_unpack(opened.read(SLOT.size * min(started, SLOTS - 1)))
        return sorted((Paid(*each) for each in found), key=lambda paid: paid.started_ns)


def true_ratio(facts: LauncherFacts, record: list[Paid]) -> float | None:
    """The processor time of a process over that without what was planted in it.

    None if the record does not have exactly one program that was started in the time of the
    process, or its processor time is not known.
    """
    if facts.start_ns is None or facts.end_ns is None or not facts.cpu_s:
        return None
    low = bisect.bisect_left(record, facts.start_ns, key=lambda paid: paid.started_ns)
    high = bisect.bisect_right(record, facts.end_ns, key=lambda paid: paid.started_ns)
    if high - low != 1:
        return None
    without_s = facts.cpu_s - record[low].planted_ns * 1e-9
    return facts.cpu_s / without_s if without_s > 0 else None
