"""What is kept of each program: what `compare` found, and what the replay of its trace says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

BASELINE = "glibc"


class Figure(msgspec.Struct, frozen=True):
    """One allocator's median, and its ratio to the baseline's with the verdict of `heapwise`."""

    median: float
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = "baseline"

    @property
    def is_sure(self) -> bool:
        """Whether the interval tells this allocator from the baseline."""
        return self.verdict in ("better", "worse")


Figures = dict[str, Figure]
"""Allocator -> figure."""


class Compared(msgspec.Struct, frozen=True):
    """Of the program itself. time: seconds, of the quantity that ``Measured.quantity`` names.
    peak: bytes of resident memory."""

    time: Figures
    peak: Figures


class Replayed(msgspec.Struct, frozen=True):
    """Of its trace. time: ns of a call, schedule `fast`. peak: bytes above the start, schedule
    `order`. share: of the events of the program's processes, those of the one whose trace it is.
    processes: of the program."""

    time: Figures
    peak: Figures
    calls: int
    threads: int
    trust: str
    share: float = 1.0
    processes: int = 1


class Measured(msgspec.Struct, frozen=True):
    """One program. quantity: `cpu` for programs of one thread, else `wall`. refused: why there is
    no replay; "" if there is one. load: average load of the machine before it began."""

    quantity: str
    compared: Compared | None
    replayed: Replayed | None
    refused: str
    rounds: int
    load: float


class Results(msgspec.Struct):
    """Of one machine. own: peak of a program that does nothing, by allocator, in bytes."""

    machine: str = ""
    processors: int = 0
    own: dict[str, float] = {}
    programs: dict[str, Measured] = {}


@dataclass(frozen=True)
class Pair:
    """One program under one allocator beside the baseline. Changes are relative to the baseline:
    0.1 is 10 % more. peak_error: of the predicted peak, relative to the real one."""

    program: str
    allocator: str
    found: float
    is_sure: bool
    predicted: float
    replay_is_sure: bool
    peak_error: float | None

    @property
    def agrees(self) -> bool:
        """Whether both changes have one sign."""
        return (self.found < 0) == (self.predicted < 0)


def pairs(results: Results) -> list[Pair]:
    """Of all programs that were compared and replayed, in their order."""
    return [
        pair for name, one in results.programs.items() for pair in _pairs_of(name, one, results)
    ]


def _pairs_of(name: str, one: Measured, results: Results) -> list[Pair]:
    compared, replayed = one.compared, one.replayed
    if compared is None or replayed is None:
        return []
    base_time, base_play = compared.time[BASELINE].median, replayed.time[BASELINE].median
    found = []
    for allocator, real in compared.time.items():
        played = replayed.time.get(allocator)
        if allocator == BASELINE or played is None or real.ratio is None:
            continue
        # The ratio of two replays is not that of two programs: the program computes, too.
        saved_s = (played.median - base_play) * replayed.calls * 1e-9
        found.append(
            Pair(
                name,
                allocator,
                real.ratio - 1,
                real.is_sure,
                saved_s / base_time,
                played.is_sure,
                _peak_error(compared, replayed, allocator, results.own),
            )
        )
    return found


def _peak_error(
    compared: Compared, replayed: Replayed, allocator: str, own: dict[str, float]
) -> float | None:
    """The baseline's real peak, with what the replay and an empty program say of the difference.
    None for a program of several processes, whose peak is not that of one of them."""
    if replayed.processes > 1:
        return None
    real, played = compared.peak.get(allocator), replayed.peak.get(allocator)
    if real is None or played is None or not real.median:
        return None
    more = played.median - replayed.peak[BASELINE].median
    more += own.get(allocator, 0) - own.get(BASELINE, 0)
    return (compared.peak[BASELINE].median + more) / real.median - 1


def load_results(path: Path) -> Results:
    """Empty if there is no such file."""
    return msgspec.json.decode(path.read_bytes(), type=Results) if path.exists() else Results()


def save_results(path: Path, results: Results) -> None:
    """Whole or not at all: an interrupted run goes on with what was kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1))
    partial.rename(path)
