"""What the program of a comparison asks of malloc, by the processes whose calls were counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heapwise.evidence.kept import measured
from heapwise.model import Process, ProcessFacts, Setup
from heapwise.store import StoredRun

PAIR_COST_S = 20e-9
"""What glibc takes for a malloc and its free in a program that uses the blocks: a round figure."""

SHARE_NEEDED = 0.01
"""Below an estimated 1 % of the time, even an allocator that costs nothing is lost in the noise."""

SAME_CALLS, FEW_CALLS = 0.01, 10
"""Counts that differ by less than 1 %, or by a few calls of a runtime's start, are equal work."""


@dataclass(frozen=True)
class Demand:
    """seconds: of a process without the counter, the longer of wall and processor time.
    peak_live: most bytes that were allocated at once in one process; None if unknown.
    """

    requests: int
    bytes_requested: int | None
    seconds: float | None
    peak_live: int | None = None

    @property
    def per_second(self) -> float | None:
        return self.requests / self.seconds if self.seconds else None

    @property
    def share(self) -> float | None:
        """About how much of the time malloc and free take; with threads, of each thread's."""
        return self.requests * PAIR_COST_S / self.seconds if self.seconds else None

    @property
    def is_too_small(self) -> bool:
        """Whether the program allocates too little for its allocator to change its speed."""
        return self.share is not None and self.share < SHARE_NEEDED


def counted_processes(stored: StoredRun, setup: Setup | None = None) -> dict[str, Process]:
    """Subject -> its counting process in a setup, if that ended well and left its counts. None: in
    the first setup that has one."""
    found = [p for p in stored.processes
             if p.facts.counting and p.status == "ok" and p.facts.calls is not None]
    wanted = setup or next((p.setup for p in found), None)
    return {p.subject: p for p in found if p.setup == wanted}


def counted_facts(stored: StoredRun, labels: Sequence[str]) -> ProcessFacts | None:
    """``labels``: the baseline and its control. None if neither was counted."""
    counted = counted_processes(stored)
    return next((counted[name].facts for name in labels if name in counted), None)


def demand_of(stored: StoredRun, labels: Sequence[str]) -> Demand | None:
    """See ``counted_facts``."""
    facts = counted_facts(stored, labels)
    if facts is None or facts.calls is None:
        return None
    seconds = _seconds(stored, labels) or facts.plain_wall_s or facts.counted_wall_s
    return Demand(facts.calls.requests, facts.bytes_requested, seconds, facts.peak_live_bytes)


def _seconds(stored: StoredRun, labels: Sequence[str]) -> float | None:
    found = [max(p.facts.wall_s, p.facts.cpu_s or 0.0) for p in measured(stored)
             if p.subject in labels and p.facts.wall_s]
    return float(np.median(found)) if found else None


@dataclass(frozen=True)
class Counts:
    """Requests of each counted subject, against those of the baseline."""

    baseline: str
    requests: dict[str, int]
    spread: float
    """How far the two labels of the baseline are apart: 0.01 is 1 %."""

    @property
    def differing(self) -> dict[str, int]:
        """Subjects whose counts are farther from the baseline's than its own two counts allow."""
        base = self.requests.get(self.baseline)
        if base is None:
            return {}
        allowed = max(FEW_CALLS, base * max(SAME_CALLS, 2 * self.spread))
        return {name: n for name, n in self.requests.items() if abs(n - base) > allowed}


def counts_of(stored: StoredRun, baseline: str, control: str,
              setup: Setup | None = None) -> Counts:
    """Of the subjects that run the build of ``baseline``: others may do other work."""
    plan = stored.run.plan
    build = plan.build_of(baseline).name
    found = {name: p.facts.calls.requests for name, p in counted_processes(stored, setup).items()
             if p.facts.calls is not None and plan.build_of(name).name == build}
    base, again = found.get(baseline), found.get(control)
    spread = abs(again / base - 1) if base and again is not None else 0.0
    return Counts(baseline, {n: c for n, c in found.items() if n != control}, spread)
