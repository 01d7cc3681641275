"""How much of a program's time it waits for something other than a processor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heapwise.evidence.comparisons import comparisons_of
from heapwise.evidence.kept import measured
from heapwise.model import Cell, Process, Setup

if TYPE_CHECKING:
    from heapwise.evidence.evidence import Evidence

MOSTLY = 0.5

ONE_PROCESSOR = 1.1
"""A program whose processor time is up to this many times its time runs on one processor."""

SHARERS = 9
"""The kernel says when something waited for a processor, and not which process. If ten programs
share a processor, each waits for it nine times as long as it has it."""

LEVEL, LEAST = 0.01, 0.005
"""The level of the test that wall and processor time differ between a subject and its baseline, and
by how much they have to."""

MATTERS = 0.5
"""The share of a difference in wall time itself."""

TIMES = ("wall_time", "cpu_time")


def waiting_share(process: Process) -> float | None:
    """Time in which the process neither had a processor nor waited for one, over its wall time, at
    least. None if that was not recorded."""
    facts = process.facts
    if facts.cpu_s is None or not facts.wall_s:
        return None
    waited_s = min((facts.psi_cpu_us or 0) * 1e-6, SHARERS * facts.cpu_s)
    return max(0.0, facts.wall_s - facts.cpu_s - waited_s) / facts.wall_s


def waiting_of(evidence: Evidence, setup: Setup) -> float | None:
    """The waiting share of the typical process of the baseline."""
    shares = [
        share
        for process in measured(evidence.stored)
        if process.setup == setup and process.subject in evidence.labels
        if (share := waiting_share(process)) is not None
    ]
    return float(np.median(shares)) if shares else None


def waits_of(evidence: Evidence, wall: Cell, cpu: Cell, subject: str, base: str) -> list[float]:
    """For each round, the logarithm of how many times as much wall time for each second of
    processor time the subject takes as the baseline. Empty for programs on several processors."""
    walls, cpus = (
        comparisons_of(evidence).pairs((cell, subject), (cell, base)) for cell in (wall, cpu)
    )
    if not (walls.has_ratio and cpus.has_ratio and walls.rounds == cpus.rounds):
        return []
    if np.median(np.divide(cpus.below, walls.below)) > ONE_PROCESSOR:
        return []
    found: list[float] = (
        np.log(np.divide(walls.above, walls.below)) - np.log(np.divide(cpus.above, cpus.below))
    ).tolist()
    return found
