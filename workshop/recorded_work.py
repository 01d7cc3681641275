"""What the programs of heap/rl_programs ask of malloc while they work: tables of recordings.

A program marks the begin and the end of its work with a block of an unusual size, so that imports
do not count. Lifetimes are numbers of allocations, which do not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapwise.trace.file import open_trace

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "experiments" / "heap" / "sources" / "rl_measured_tables.hpp"
MARK = 1_234_568
"""What ``programs/rl_phase.py`` asks for: a bytearray has one byte more."""

LIVES = 11
"""Lifetimes in allocations: 0, then by powers of 4 from 1; the last holds all longer ones."""

LEAST_WEIGHT = 2e-4
SMALL, REPORTED = 512, 0.65
"""The report's largest small block, and its chance of an allocation."""


@dataclass(frozen=True)
class SizeRow:
    """Blocks of more than half of ``limit`` bytes and at most that. lives: shares, by lifetime."""

    limit: int
    mean: int
    weight: float
    lives: tuple[float, ...]


@dataclass(frozen=True)
class Work:
    """The work of one program. again: the chance that an allocation follows an allocation."""

    name: str
    allocations: int
    frees: int
    bytes: int
    small: float
    small_bytes: float
    again: float
    median_life: float
    stays: float
    threads: int
    handed_over: float
    rows: tuple[SizeRow, ...]

    @property
    def share(self) -> float:
        """The share of the calls that allocate."""
        return self.allocations / max(1, self.allocations + self.frees)


Numbers = NDArray[Any]


def read_work(name: str, file: Path) -> Work:
    """Between the first two marks. ValueError if the recording has no marks."""
    with open_trace(file) as trace:
        parts = [
            [np.asarray(getattr(each, column)) for column in COLUMNS] for each in trace.events()
        ]
    block, size, makes, ends, thread = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    marks = np.flatnonzero(makes & (size == MARK))
    if len(marks) < 2:
        raise ValueError(f"{file} has {len(marks)} marks of {MARK} bytes")
    inside = slice(marks[0] + 1, marks[1])
    block, size, makes, ends, thread = (
        column[inside] for column in (block, size, makes, ends, thread)
    )
    return _work(name, block, size, makes, ends, thread)


COLUMNS = ("block", "size", "makes", "ends", "thread")


def _work(
    name: str, block: Numbers, size: Numbers, makes: Numbers, ends: Numbers, thread: Numbers
) -> Work:
    blocks, block_size, maker = block[makes], size[makes].astype(np.int64), thread[makes]
    order = np.cumsum(makes)
    ended, at, ender = block[ends], order[ends], thread[ends]
    sorting = np.argsort(ended, kind="stable")
    place = np.searchsorted(ended[sorting], blocks)
    place = np.minimum(place, max(0, len(ended) - 1))
    found = ended[sorting][place] == blocks if len(ended) else np.zeros(len(blocks), bool)
    life = np.where(found, at[sorting][place] - np.arange(1, len(blocks) + 1), len(blocks))
    kinds = np.where(life <= 0, 0, 1 + np.floor(np.log2(np.maximum(life, 1)) / 2)).astype(int)
    kinds = np.minimum(kinds, LIVES - 1)
    calls = makes[makes | ends]
    after = calls[1:][calls[:-1]]
    handed = (ender[sorting][place] != maker)[found] if len(ended) else np.zeros(0, bool)
    small = block_size <= SMALL
    return Work(
        name,
        len(blocks),
        len(ended),
        int(block_size.sum()),
        float(small.mean()),
        float(block_size[small].sum() / max(1, block_size.sum())),
        float(after.mean()) if len(after) else 0.0,
        float(np.median(life)),
        float(1 - found.mean()),
        len(np.unique(thread)),
        float(handed.mean()) if len(handed) else 0.0,
        tuple(_rows(block_size, kinds)),
    )


def _rows(sizes: Numbers, kinds: Numbers) -> Iterable[SizeRow]:
    limits = 1 << np.ceil(np.log2(np.maximum(sizes, 16))).astype(np.int64)
    for limit in np.unique(limits):
        mine = limits == limit
        if mine.mean() >= LEAST_WEIGHT:
            lives = np.bincount(kinds[mine], minlength=LIVES) / mine.sum()
            yield SizeRow(
                int(limit), max(1, round(sizes[mine].mean())), float(mine.mean()), tuple(lives)
            )


def cpp(works: Sequence[Work]) -> str:
    """The tables as a header, for heap/rl_measured."""
    lines = [
        "// Made by `python -m workshop rl FOLDER --tables`; do not edit.",
        "// What programs asked of malloc while they worked: sizes, and how long the blocks lived.",
        "#pragma once",
        "",
        '#include "sources/measured_mix.hpp"',
        "",
        "namespace heaps::measured {",
    ]
    for work in works:
        lines += ["", f"inline constexpr measured_size {work.name}_sizes[] = {{"]
        for row in work.rows:
            lives = ", ".join(f"{share:.4g}" for share in row.lives)
            lines.append(f"    {{{row.mean}, {row.weight:.4g}, {{{lives}}}}},")
        lines.append("};")
    lines += ["", "inline constexpr measured_mix mixes[] = {"]
    lines += [f'    {{"{w.name}", {w.name}_sizes, {w.allocations}, {w.share:.4g}}},' for w in works]
    lines += ["};", "", "} // namespace heaps::measured", ""]
    return "\n".join(lines)
