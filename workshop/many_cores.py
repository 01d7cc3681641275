#!/usr/bin/env python3
"""Counts what threads share in the heap, and derives what that allows on many processors.

    cmake --preset counting && cmake --build --preset counting
    python -m workshop.many_cores                    all works, 1, 2, 16, 64 and 256 threads
    python -m workshop.many_cores --transfer-ns 250  the caps of a machine with several sockets

It takes two minutes. docs/many-cores.md describes the model and its assumptions.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MIB = 1 << 20

WORKS = ("mixed", "bulk", "pass_on", "buffers", "short_threads")

LINES_OF_A_LOCK = {
    "bin": 3,
    "mixed": 2,
    "space": 4,
    "purging": 1,
    "idle_caches": 2,
    "batches": 2,
    "large_stock": 2,
}
"""Cache lines that a holder writes and the next one needs: the lock's own, and what it guards.
Span records and sums are counted apart."""

GUARDED_BY = {"span_record": "bin"}
"""Lines that are only written while such a lock is held."""

LINES_OF_A_RECORD = 2
"""The header of a span and a word of its bitmap."""


@dataclass(frozen=True)
class Lock:
    """All locks of a kind, and the one of them that was held for longest."""

    locks: int
    acquisitions: int
    contended: int
    handovers: int
    hold_ns: int
    p99_hold_ns: int
    longest_ns: int
    interrupted: int
    busiest_acquisitions: int
    busiest_handovers: int
    busiest_hold_ns: int


@dataclass(frozen=True)
class CacheLine:
    """Lines of a kind that threads write by turns."""

    writes: int
    handovers: int


@dataclass
class Counts:
    """What one process counted, per million operations."""

    operations: int
    shards: int = 1
    clock_ns: int = 0
    locks: dict[str, Lock] = field(default_factory=dict)
    lines: dict[str, CacheLine] = field(default_factory=dict)
    peak_bytes: int = 0
    """What the work added to the resident memory of the process at the most."""

    def per_million(self, count: int) -> float:
        return count * 1e6 / self.operations


@dataclass(frozen=True)
class Machine:
    """What the model assumes of a machine."""

    transfer_ns: float
    operation_ns: float


def read_counts(text: str, operations: int, shards: int = 1) -> Counts:
    """The lines that a counting heap writes to standard error."""
    counts = Counts(operations, shards)
    for kind, name, rest in re.findall(r"^sharing (\w+) (\w+)(.*)$", text, re.MULTILINE):
        numbers = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", rest)}
        if kind == "lock":
            counts.locks[name] = Lock(**numbers)
        elif kind == "line":
            counts.lines[name] = CacheLine(**numbers)
        else:
            counts.clock_ns = int(re.findall(r"\d+", name + rest)[-1])
    return counts


def peak_bytes(output: str) -> int:
    """What the experiment has measured, of the lines that it writes to standard output."""
    told = [json.loads(line) for line in output.splitlines()]
    return max(int(each["values"]["peak_resident"]) for each in told if each["kind"] == "sample")


def others(processors: int) -> float:
    """How likely it is that the last one to write was on another processor."""
    return 1 - 1 / processors


def serial_ns(counts: Counts, processors: int, machine: Machine) -> Iterator[tuple[str, float]]:
    """The time of each operation in which only one thread can be, for every lock and line.

    Each shard has a line of each kind of figures.
    """
    away_ns = others(processors) * machine.transfer_ns
    for name, lock in counts.locks.items():
        share = lock.busiest_acquisitions / max(lock.acquisitions, 1)
        records = (
            sum(line.writes for kind, line in counts.lines.items() if GUARDED_BY.get(kind) == name)
            * share
        )
        moved = lock.busiest_acquisitions * LINES_OF_A_LOCK[name] + records * LINES_OF_A_RECORD
        held_ns = max(0, lock.busiest_hold_ns - lock.busiest_acquisitions * counts.clock_ns)
        yield f"lock of {name}", (held_ns + moved * away_ns) / counts.operations
    for name, line in counts.lines.items():
        if name.endswith("_figures"):
            yield f"line of {name}", line.writes * away_ns / counts.shards / counts.operations


@dataclass(frozen=True)
class Cap:
    """The most operations in a second, in millions, and what sets the limit."""

    millions: float
    limit: str


def cap(counts: Counts, processors: int, machine: Machine) -> Cap:
    """The bound of a closed system: no queue is emptied faster than its busiest station works."""
    limit, slowest_ns = max(
        serial_ns(counts, processors, machine), key=lambda each: each[1], default=("", 0.0)
    )
    free = processors * 1e3 / machine.operation_ns
    if slowest_ns * free <= 1e3:
        return Cap(free, "the processors")
    return Cap(1e3 / slowest_ns, limit)


def count(build: Path, work: str, threads: int, operations: int, shards: int) -> Counts:
    """Runs the work on the counting heap."""
    native = build / "native"
    command = [
        str(native / "experiments" / "heap" / "many_threads"),
        "--subject",
        "malloc",
        "--repeats",
        "1",
        "--set",
        f"work={work}",
        "--set",
        f"threads={threads}",
        "--set",
        f"operations={operations}",
    ]
    environment = os.environ | {
        "LD_PRELOAD": str(native / "libheapwise-malloc.so"),
        "HEAPWISE_MALLOC_STATS": "1",
        "HEAPWISE_MALLOC_SHARDS": str(shards),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    counts = read_counts(done.stderr, operations, shards)
    if not counts.locks:
        sys.exit(f"{native} does not count. Build it with `cmake --build --preset counting`.")
    counts.peak_bytes = peak_bytes(done.stdout)
    return counts


def shards_for(processors: int) -> int:
    """As src/heap/base/shards.cpp chooses."""
    return max(1, min(32, processors // 4))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def row_of_counts(work: str, threads: int, counts: Counts) -> Iterator[list[str]]:
    """A line for each kind that is not negligible."""

    def said(number: int) -> str:
        return f"{counts.per_million(number):.0f}"

    for name, lock in counts.locks.items():
        if counts.per_million(lock.acquisitions) >= 100:
            mean_ns = lock.hold_ns / max(1, lock.acquisitions - lock.interrupted) - counts.clock_ns
            yield [
                work,
                str(threads),
                f"lock of {name}",
                said(lock.acquisitions),
                said(lock.busiest_acquisitions),
                said(lock.contended),
                said(lock.handovers),
                f"{max(mean_ns, 0):.0f}",
                f"{lock.longest_ns / 1e3:.0f}",
            ]
    for name, line in counts.lines.items():
        if counts.per_million(line.writes) >= 100:
            yield [
                work,
                str(threads),
                f"line of {name}",
                said(line.writes),
                "",
                "",
                said(line.handovers),
                "",
                "",
            ]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build" / "counting",
        help="where the counting heap was built",
    )
    parser.add_argument("--work", action="append", choices=WORKS, help="only this work")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 16, 64, 256])
    parser.add_argument("--operations", type=int, default=3_000_000, help="of all threads")
    parser.add_argument("--shards", type=int, help="instead of the number for this many processors")
    parser.add_argument(
        "--transfer-ns",
        type=float,
        default=100,
        help="to bring a written line to another processor (default: 100)",
    )
    parser.add_argument(
        "--operation-ns",
        type=float,
        default=20,
        help="a malloc and a free without anything shared (default: 20)",
    )
    return parser.parse_args()


def main() -> None:
    options = arguments()
    machine = Machine(options.transfer_ns, options.operation_ns)
    counted = {
        (work, threads): count(
            options.build, work, threads, options.operations, options.shards or shards_for(threads)
        )
        for work in options.work or WORKS
        for threads in options.threads
    }
    print(
        table(
            [
                "work",
                "threads",
                "what",
                "per million operations",
                "of the busiest",
                "contended",
                "handed over",
                "mean hold, ns",
                "longest, us",
            ],
            [
                row
                for (work, threads), counts in counted.items()
                for row in row_of_counts(work, threads, counts)
            ],
        )
    )
    print()
    caps = [
        (work, threads, cap(counts, threads, machine))
        for (work, threads), counts in counted.items()
    ]
    print(
        table(
            ["work", "processors", "at most, million operations/s", "limited by", "memory, MiB"],
            [
                [
                    work,
                    str(threads),
                    f"{most.millions:.0f}",
                    most.limit,
                    f"{counted[work, threads].peak_bytes / MIB:.1f}",
                ]
                for work, threads, most in caps
            ],
        )
    )


if __name__ == "__main__":
    main()
