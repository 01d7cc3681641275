"""The windows of servers whose load was cut: how many were warm-up, and what the rest say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapwise.evidence import Evidence
from heapwise.model import LoadFacts, Process
from heapwise.stats.series.windows import window_mean


@dataclass(frozen=True)
class ServerWindows:
    """The windows of the process of one subject under one load whose mean is in the middle of its
    processes. mean: of the kept windows, in ``unit``. low, high: ends of the 95 % interval within
    this process; None below three kept windows."""

    load: str
    subject: str
    processes: int
    kept: int
    windows: int
    unit: str
    mean: float
    low: float | None
    high: float | None


def server_windows(evidence: Evidence) -> list[ServerWindows]:
    """Empty if no load was cut into windows."""
    found: dict[tuple[str, str], list[LoadFacts]] = {}
    for process in evidence.stored.processes:
        if load := _windows_of(process, evidence):
            key = str(process.parameters.get("load", "")), process.subject
            found.setdefault(key, []).append(load)
    return [_of_subject(load, subject, loads) for (load, subject), loads in found.items()]


def _windows_of(process: Process, evidence: Evidence) -> LoadFacts | None:
    facts = process.facts.load
    if (
        facts is None
        or not facts.windows
        or process.status != "ok"
        or process.round < 0
        or process.subject in evidence.control_names
    ):
        return None
    return facts


def _levels(load: LoadFacts) -> list[float]:
    """The figures of the kept windows: latencies if there are any."""
    kept = [window for window in load.windows if not window.warm_up]
    late = [float(w.latency_p99) for w in kept if w.latency_p99 is not None]
    return late if len(late) == len(kept) else [float(window.rate) for window in kept]


def _of_subject(load: str, subject: str, loads: Sequence[LoadFacts]) -> ServerWindows:
    middle = sorted(loads, key=lambda each: sum(_levels(each)) / len(_levels(each)))[
        (len(loads) - 1) // 2
    ]
    levels = _levels(middle)
    found = window_mean(levels)
    is_latency = all(window.latency_p99 is not None for window in middle.windows)
    return ServerWindows(
        load,
        subject,
        len(loads),
        len(levels),
        len(middle.windows),
        "s" if is_latency else "requests/s",
        sum(levels) / len(levels),
        found.low if found else None,
        found.high if found else None,
    )
