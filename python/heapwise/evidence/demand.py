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

FAULT_COST_S = 0.5e-6
"""What the kernel takes to map a page and to clear it: a round figure, too. An allocator that keeps
the pages of freed blocks saves it."""

MOST_FAULT_COST_S = 5e-6
"""More than a page costs with the calls that get and return it, in a virtual machine too, where we
measured 2 µs."""

SHARE_NEEDED = 0.01
"""Below an estimated 1 % of the time, even an allocator that costs nothing is lost in the noise."""

SAME_CALLS, FEW_CALLS = 0.01, 10
"""Counts that differ by less than 1 %, or by a few calls of a runtime's start, are equal work."""

UNSEEN = 2
"""If there are more than this many times as many frees as allocations, the counter missed most
allocations."""


@dataclass(frozen=True)
class Demand:
    """seconds: processor time of a process without the counter; its wall time if that is not known.
    peak_live: most bytes that were allocated at once in one process; None if unknown.
    pages: that blocks can have made the kernel map, under the allocator with the most page faults.
    frees: calls of free.
    kernel_s: processor time of the kernel in such a process.
    """

    requests: int
    bytes_requested: int | None
    seconds: float | None
    peak_live: int | None = None
    pages: float = 0.0
    frees: int = 0
    kernel_s: float = 0.0
    page_bytes: int = 4096

    @property
    def per_second(self) -> float | None:
        return self.requests / self.seconds if self.seconds else None

    @property
    def calls_share(self) -> float | None:
        """About how much of the time malloc and free take."""
        return self._share(self.requests * PAIR_COST_S)

    @property
    def pages_share(self) -> float | None:
        """About how much of the time the kernel takes to map the pages of blocks."""
        return self._share(self.pages * FAULT_COST_S)

    def _share(self, cost_s: float) -> float | None:
        return min(1.0, cost_s / self.seconds) if self.seconds else None

    @property
    def kernel_share(self) -> float | None:
        """At most how much of the time the kernel takes for blocks: its whole time in the program,
        but not more than the pages of the blocks can cost."""
        if self.bytes_requested is None:
            return self._share(self.kernel_s)
        pages = self.bytes_requested / self.page_bytes
        return self._share(min(self.kernel_s, pages * MOST_FAULT_COST_S))

    @property
    def most_gain(self) -> float | None:
        """About what share of the time an allocator can save at most by being quick. None if it is
        unknown, or most calls were not counted."""
        calls, kernel = self.calls_share, self.kernel_share
        if calls is None or kernel is None or self.missed_most:
            return None
        return min(1.0, calls + kernel)

    @property
    def is_too_small(self) -> bool:
        """Whether calls and pages together explain that no allocator changes the speed. It explains
        a difference that was not found, and is never a reason to deny one that was measured."""
        calls, pages = self.calls_share, self.pages_share
        if calls is None or pages is None or self.missed_most:
            return False
        return calls + pages < SHARE_NEEDED

    @property
    def missed_most(self) -> bool:
        """Whether blocks were freed whose allocation did not reach the counter: a library that is
        opened with RTLD_DEEPBIND calls the malloc of the C library."""
        return self.frees > UNSEEN * max(self.requests, FEW_CALLS)


def counted_processes(stored: StoredRun, setup: Setup | None = None) -> dict[str, Process]:
    """Subject -> its counting process in a setup, if that ended well and left its counts. None: in
    the first setup that has one."""
    found = [
        p
        for p in stored.processes
        if p.facts.counting and p.status == "ok" and p.facts.calls is not None
    ]
    wanted = setup or next((p.setup for p in found), None)
    return {p.subject: p for p in found if p.setup == wanted}


def counted_facts(
    stored: StoredRun, labels: Sequence[str], setup: Setup | None = None
) -> ProcessFacts | None:
    """``labels``: the baseline and its control. None if neither was counted."""
    counted = counted_processes(stored, setup)
    return next((counted[name].facts for name in labels if name in counted), None)


def demands_of(stored: StoredRun, labels: Sequence[str]) -> dict[Setup, Demand]:
    """Setup -> what the program asks of malloc there; only setups in which it was counted.

    labels: as ``counted_facts`` has them.
    """
    setups = dict.fromkeys(p.setup for p in stored.processes if p.facts.counting)
    found = {setup: _demand(stored, labels, setup) for setup in setups}
    return {setup: demand for setup, demand in found.items() if demand is not None}


def _demand(stored: StoredRun, labels: Sequence[str], setup: Setup) -> Demand | None:
    facts = counted_facts(stored, labels, setup)
    if facts is None or facts.calls is None:
        return None
    timed = [p for p in measured(stored) if p.setup == setup]
    times = [p.facts.cpu_s or p.facts.wall_s for p in timed if p.subject in labels]
    seconds = _middle(times) or facts.plain_wall_s or facts.counted_wall_s
    return Demand(
        facts.calls.requests,
        facts.bytes_requested,
        seconds,
        facts.peak_live_bytes,
        _pages(stored, timed, labels, facts.bytes_requested),
        facts.calls.free,
        _middle([p.facts.system_s for p in timed if p.subject in labels]) or 0.0,
        _page_bytes(stored),
    )


def _page_bytes(stored: StoredRun) -> int:
    return stored.run.machine.page_bytes or 4096


def _pages(
    stored: StoredRun, timed: Sequence[Process], labels: Sequence[str], bytes_requested: int | None
) -> float:
    """Pages that the program had no blocks for were mapped for something else."""
    plan = stored.run.plan
    build = plan.build_of(labels[0]).name if labels else ""
    faults: dict[str, list[int | None]] = {}
    for process in timed:
        if plan.build_of(process.subject).name == build:
            faults.setdefault(process.subject, []).append(process.facts.minor_faults)
    most = [middle for found in faults.values() if (middle := _middle(found)) is not None]
    asked = [] if bytes_requested is None else [bytes_requested / _page_bytes(stored)]
    return min([max(most), *asked] if most else asked, default=0.0)


def _middle(found: Sequence[float | None]) -> float | None:
    known = [value for value in found if value]
    return float(np.median(known)) if known else None


def allowed_difference(base: int, spread: float) -> float:
    """How far a count may be from that of the baseline if both did equal work. spread: how far the
    baseline's own two counts are apart; 0.01 is 1 %."""
    return max(FEW_CALLS, base * max(SAME_CALLS, 2 * spread))


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
        allowed = allowed_difference(base, self.spread)
        return {name: n for name, n in self.requests.items() if abs(n - base) > allowed}


def counts_of(stored: StoredRun, baseline: str, control: str, setup: Setup | None = None) -> Counts:
    """The counts of the subjects that run the build of ``baseline``: others may do other work."""
    plan = stored.run.plan
    build = plan.build_of(baseline).name
    found = {
        name: p.facts.calls.requests
        for name, p in counted_processes(stored, setup).items()
        if p.facts.calls is not None and plan.build_of(name).name == build
    }
    base, again = found.get(baseline), found.get(control)
    spread = abs(again / base - 1) if base and again is not None else 0.0
    return Counts(baseline, {n: c for n, c in found.items() if n != control}, spread)
