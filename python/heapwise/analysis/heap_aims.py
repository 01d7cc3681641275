"""What the project aims at with its heap, as data; whether it is reached is computed elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heapwise.analysis.roles import BEST_MALLOC, BEST_PEER, INLINED, LEANEST_PEER, OURS

Rows = Literal["speed", "main", "peak"]
"""Every throughput and latency; the same without quantiles of single calls; peak memory."""

Allowance = Literal["", "floor", "level"]
"""Nothing, the noise floor of the row, or what the verdict calls no difference: counts as equal."""


@dataclass(frozen=True)
class RowAim:
    """In every row that it covers, ``ours`` is ``factor`` times as good as each of the rivals.

    experiments: a pattern of ids. allow: by experiment, what still counts as equal there.
    """

    says: str
    experiments: str
    rows: Rows
    ours: str
    rivals: str
    factor: float
    allow: tuple[tuple[str, Allowance], ...] = ()


@dataclass(frozen=True)
class MeanAim:
    """``ours`` over each rival, as the geometric mean of the family's rows without quantiles."""

    says: str
    family: str
    ours: str
    rivals: str
    factor: float


@dataclass(frozen=True)
class ScaleAim:
    """``ours`` where ``parameter`` is ``at``, over ``ours`` where it is ``over``."""

    says: str
    experiment: str
    parameter: str
    at: int
    over: int
    ours: str
    factor: float


@dataclass(frozen=True)
class LimitAim:
    """The value of ``ours`` itself is at most ``limit`` in every cell."""

    says: str
    experiment: str
    quantity: str
    ours: str
    limit: float


Aim = RowAim | MeanAim | ScaleAim | LimitAim

HEAP_AIMS: tuple[Aim, ...] = (
    RowAim("every throughput and latency row", "heap/*", "speed", OURS, BEST_PEER, 1.0,
           (("heap/pair", "floor"),)),
    RowAim("no row far behind", "heap/*", "speed", OURS, BEST_PEER, 0.95),
    MeanAim("geometric mean of all rows", "heap", OURS, BEST_PEER, 1.15),
    RowAim("pair by header", "heap/pair", "main", INLINED, BEST_MALLOC, 2.0),
    RowAim("trees by header", "heap/trees", "main", INLINED, BEST_MALLOC, 1.5),
    RowAim("level with glibc", "heap/realloc_growth", "speed", OURS, "malloc@glibc", 1.0,
           (("heap/realloc_growth", "level"),)),
    LimitAim("lean while sizes change", "heap/size_shift", "resident_over_live", OURS, 2.6),
    LimitAim("memory given back when idle", "heap/idle_purge", "resident_2s", OURS, 0.05),
    RowAim("peak memory of every row", "heap/*", "peak", OURS, LEANEST_PEER, 1.0),
    ScaleAim("16 threads hold what 2 reach", "heap/rl_small", "threads", 16, 2, OURS, 0.95),
)
