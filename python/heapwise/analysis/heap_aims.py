"""What the project aims at with its heap, as data; whether it is reached is computed elsewhere.

The same for the binary trees, whose rows are ways to manage memory of every kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heapwise.analysis.roles import (
    ANY_MALLOC,
    BEST_MALLOC,
    BEST_PEER,
    COLLECTORS,
    INLINED,
    LEANEST_PEER,
    OTHER_MALLOC,
    OURS,
)
from heapwise.model import Setting

Rows = Literal["speed", "main", "peak", "wall"]
"""Every throughput and latency; the same without quantiles of single calls; peak memory; the time
of a whole program."""

Where = tuple[tuple[str, Setting | tuple[Setting, ...]], ...]

Allowance = Literal["", "floor", "level"]
"""Nothing, the noise floor of the row, or what the verdict calls no difference: counts as equal."""


@dataclass(frozen=True)
class RowAim:
    """In every row that it covers, ``ours`` is ``factor`` times as good as each of the rivals. Of
    peak memory it has at most ``factor`` times as much.

    experiments: a pattern of ids; programs of the machine are meant only by the id of their
    experiment itself. allow: by experiment, what still counts as equal there.
    where: the value that a parameter has, or one of several. fastest: only the rival counts that
    is fastest there. quantities: all that ``rows`` means, if none is named.
    """

    says: str
    experiments: str
    rows: Rows
    ours: str
    rivals: str
    factor: float
    allow: tuple[tuple[str, Allowance], ...] = ()
    where: Where = ()
    fastest: bool = False
    quantities: tuple[str, ...] = ()


@dataclass(frozen=True)
class MeanAim:
    """``ours`` over each rival, as the geometric mean of all rows that it covers; as RowAim."""

    says: str
    experiments: str
    rows: Rows
    ours: str
    rivals: str
    factor: float
    where: Where = ()


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
    """The value of ``ours`` itself is at most ``limit`` in every cell.

    where: the value that a parameter has.
    """

    says: str
    experiment: str
    quantity: str
    ours: str
    limit: float
    where: Where = ()


Aim = RowAim | MeanAim | ScaleAim | LimitAim

PROGRAMS = "heap/real_programs"

HEAP_AIMS: tuple[Aim, ...] = (
    RowAim(
        "every throughput and latency row",
        "heap/*",
        "speed",
        OURS,
        BEST_PEER,
        1.0,
        (("heap/pair", "floor"),),
    ),
    RowAim("no row far behind", "heap/*", "speed", OURS, BEST_PEER, 0.95),
    MeanAim("geometric mean of all rows", "heap/*", "main", OURS, BEST_PEER, 1.15),
    RowAim("pair by header", "heap/pair", "main", INLINED, BEST_MALLOC, 2.0),
    RowAim("trees by header", "heap/trees", "main", INLINED, BEST_MALLOC, 1.5),
    RowAim(
        "level with glibc",
        "heap/realloc_growth",
        "speed",
        OURS,
        "malloc@glibc",
        1.0,
        (("heap/realloc_growth", "level"),),
    ),
    RowAim(
        "growth by half, against glibc", "heap/realloc_mixed", "speed", OURS, "malloc@glibc", 0.8
    ),
    LimitAim(
        "no long malloc among survivors (ns)",
        "heap/worst_call",
        "alloc_max",
        OURS,
        300_000,
        (("shape", "survivors"),),
    ),
    LimitAim("lean while sizes change", "heap/size_shift", "resident_over_live", OURS, 2.6),
    LimitAim("memory given back when idle", "heap/idle_purge", "resident_2s", OURS, 0.05),
    RowAim("peak memory of every row", "heap/*", "peak", OURS, LEANEST_PEER, 1.0),
    RowAim("time of programs", PROGRAMS, "wall", OURS, BEST_PEER, 0.99),
    RowAim("peak memory of programs", PROGRAMS, "peak", OURS, "malloc@glibc", 1.08),
    MeanAim("peak memory of programs, mean", PROGRAMS, "peak", OURS, "malloc@glibc", 1.02),
    ScaleAim("16 threads hold what 2 reach", "heap/rl_small", "threads", 16, 2, OURS, 0.95),
)

TREES = "trees/binary_trees"
AT_DEPTH = (("depth", 21),)
ARENA, TINY_GC = "arena", "tiny_gc"
"""Boehm's rows are all of one number of markers, those included that only look at first bytes."""

TREE_AIMS: tuple[RowAim, ...] = (
    RowAim("trees by malloc", TREES, "wall", OURS, OTHER_MALLOC, 1.1, where=AT_DEPTH),
    RowAim(
        "at no more memory", TREES, "peak", OURS, OTHER_MALLOC, 1.0, where=AT_DEPTH, fastest=True
    ),
    RowAim("malloc before collectors, time", TREES, "wall", OURS, COLLECTORS, 1.0, where=AT_DEPTH),
    RowAim(
        "malloc before collectors, peak memory",
        TREES,
        "peak",
        OURS,
        COLLECTORS,
        1.0,
        where=AT_DEPTH,
    ),
    RowAim("trees by pool", TREES, "wall", "pool", ANY_MALLOC, 1.2, where=AT_DEPTH),
    RowAim("trees by arena", TREES, "wall", ARENA, "ocaml", 2.5, where=AT_DEPTH),
    RowAim("collector, one marker", TREES, "wall", TINY_GC, "boehm_1*", 1.5, where=AT_DEPTH),
    RowAim("collector, four markers", TREES, "wall", TINY_GC, "boehm_4*", 1.5, where=AT_DEPTH),
    RowAim(
        "collector, peak memory, one marker",
        TREES,
        "peak",
        TINY_GC,
        "boehm_1*",
        1.0,
        where=AT_DEPTH,
        fastest=True,
    ),
    RowAim(
        "collector, peak memory, four markers",
        TREES,
        "peak",
        TINY_GC,
        "boehm_4*",
        1.0,
        where=AT_DEPTH,
        fastest=True,
    ),
)
