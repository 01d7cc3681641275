"""The library that plants work, and what its record has of each program that was started."""

from __future__ import annotations

import bisect
import os
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from heapwise.model import ProcessFacts

SOURCE = Path(__file__).with_name("plant.c")
SLOT = struct.Struct("<qqqq")
SLOTS = 1 << 16
"""As in plant.c."""


@dataclass(frozen=True)
class Dose:
    """Steps of work: at every 256th allocation of a thread, and at the end of a process."""

    at_look: int = 0
    at_end: int = 0

    def variables(self, record: Path) -> dict[str, str]:
        """For the environment of a program into which the library is loaded."""
        return {
            "PLANT_STEPS_AT_LOOK": str(self.at_look),
            "PLANT_STEPS_AT_END": str(self.at_end),
            "PLANT_RECORD": str(record),
        }


@dataclass(frozen=True)
class Paid:
    """What was planted in one program that was started, and in all that it started. At its start,
    by the monotonic clock."""

    started_ns: int
    planted_ns: int
    looks: int = 0
    ends: int = 0


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


def read_record(file: Path) -> list[Paid]:
    """All programs of the file, in the order of their starts."""
    with file.open("rb") as opened:
        started, *_ = SLOT.unpack(opened.read(SLOT.size))
        found = SLOT.iter_unpack(opened.read(SLOT.size * min(started, SLOTS - 1)))
        return sorted((Paid(*each) for each in found), key=lambda paid: paid.started_ns)


def own_s(facts: ProcessFacts, record: Sequence[Paid]) -> float | None:
    """The processor time of a process without what was planted in it; side by side the mean of its
    runs that count.

    record: in the order of the starts. The first start in the time of the process is its own, or
    that of a copy with the same dose which began beside it; its further runs follow. None if there
    is none, or the processor time is not known.
    """
    if facts.start_ns is None or facts.end_ns is None or not facts.cpu_s_beside:
        return None
    first = bisect.bisect_left(record, facts.start_ns, key=lambda paid: paid.started_ns)
    runs = facts.beside.runs if facts.beside else 1
    found = record[first : first + runs]
    if len(found) < runs or found[0].started_ns > facts.end_ns:
        return None
    return facts.cpu_s_beside - fmean(paid.planted_ns for paid in found) * 1e-9
