#!/usr/bin/env python3
"""Repeats the programs that once made the collector hang, crash or lose blocks, and counts.

    cmake --preset dev && cmake --build --preset dev --target unit_tests stress_tests
    tests/long/collector_faults.py   1,000 runs of each, each in a process of its own
    ... --runs 20 --name F5          20 runs of the programs of fault F5

The programs are test cases below tests/. A run ends well, fails (a check did not hold), crashes (a
signal ended it) or hangs (it was killed after the time limit). The exit status is 1 if one of all
runs did not end well.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class End(Enum):
    """How a run ended."""

    WELL = "well"
    FAILED = "failed"
    CRASHED = "crashed"
    HUNG = "hung"


@dataclass(frozen=True)
class FaultProgram:
    """One test case: ``fault`` names what it guards, ``binary`` the program that holds it."""

    fault: str
    binary: str
    case: str


def programs_of(fault: str, binary: str, *cases: str) -> list[FaultProgram]:
    return [FaultProgram(fault, binary, case) for case in cases]


PROGRAMS = [
    *programs_of(
        "F1 threads started in a stopped world",
        "stress_gc_calls_test",
        "a collection calls no function that allocates or locks while the world is stopped",
        "the first large collection ends while threads free the blocks of each other",
    ),
    *programs_of(
        "F2, F3 variables of threads",
        "unit_gc_roots_libraries_test",
        "threads that register and then use a library for the first time keep their blocks",
        "blocks in the variables of forty libraries are kept",
        "a variable in the first thread's part that no table tells of is found",
    ),
    *programs_of(
        "F4 libraries that went",
        "unit_gc_roots_libraries_test",
        "variables of an unloaded library are not read, whatever came after it",
        "a larger library in the place of a smaller one is not read beyond the smaller one",
    ),
    *programs_of(
        "F2 to F4 while others load",
        "stress_gc_libraries_test",
        "threads load, use and unload libraries while another collects all the time",
        "threads whose tables of libraries grow keep their blocks while another collects",
    ),
    *programs_of(
        "F5 other stacks",
        "unit_gc_roots_stacks_test",
        "a thread on a signal stack below or above its own keeps the blocks of both",
        "a thread on a signal stack inside of its own keeps the blocks of both",
        "a thread that collects on its signal stack keeps the blocks of both stacks",
        "a coroutine that allocates keeps its blocks and those of its thread's stack",
        "a thread that is stopped in a coroutine keeps the blocks of both stacks",
        "a coroutine that waits keeps its blocks as long as its stack is added",
        "a coroutine whose stack is an array of a function keeps the frames below it",
        "fibers of Boost.Context keep their blocks while one of them collects",
    ),
    *programs_of(
        "F6 forks while threads register",
        "stress_gc_register_test",
        "a child that is forked while others register collects",
    ),
    *programs_of(
        "F7 forks beside markers",
        "stress_gc_fork_test",
        "a child that is forked right after a collection collects with several markers",
    ),
    *programs_of(
        "F8 blocked signals",
        "unit_gc_threads_signals_test",
        "a thread that inherited blocked signals is stopped all the same",
        "a thread that has blocked all signals may end while another collects",
        "a thread that blocks the signal is named, and waited for",
    ),
    *programs_of(
        "F9 others use the signal",
        "unit_gc_threads_signals_test",
        "the signal can be chosen",
        "a handler that was there before gets the signals that others send, and no stops",
        "two copies of the collector in one process stop threads, whichever came first",
        "Boehm's collector in the same process, where it is installed",
    ),
    *programs_of(
        "F10 ends of threads",
        "unit_gc_threads_thread_end_test",
        "a destructor of a pthread key may allocate",
        "the value of a pthread key is kept until its destructor has run",
        "after its last round of destructors a thread cannot be registered again",
        "a thread that was first registered by its last destructor is forgotten",
        "a thread that is cancelled does not run while it is stopped",
    ),
    *programs_of(
        "F11 one past the end",
        "unit_gc_front_collector_test",
        "an address one past the end holds a block from the stack, and not from another block",
        "a loop that goes from the end to the begin keeps its block",
    ),
    *programs_of(
        "F12, F13 limits",
        "unit_gc_front_limits_test",
        "the collector works under limits of addresses",
        "a mark stack takes less where addresses are limited",
        "leaks are found where the data of a process is limited",
        "a start that failed leaves nothing behind",
    ),
    *programs_of(
        "F13 misuse and reports",
        "unit_gc_checks_misuse_test",
        "nothing is allocated for an address that is not a block",
        "a size that no collection could make room for is refused without one",
    ),
    *programs_of(
        "F13 misuse and reports",
        "unit_gc_checks_leaks_test",
        "a lost block holds what it held until it is reported",
        "a child forked during another thread's report gives up what it reported",
    ),
]


def filter_of(case: str) -> str:
    """Doctest takes a comma for the end of a name, and has a sign for any character."""
    return case.replace(",", "?")


def run(program: FaultProgram, folder: Path, limit_s: float) -> End:
    """One run; what it started and did not end is ended."""
    command = [str(folder / program.binary), f"--test-case={filter_of(program.case)}"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return End.HUNG
    if process.returncode < 0:
        return End.CRASHED
    ran = re.search(rb"test cases:\s*1 \|\s*1 passed", said) is not None
    return End.WELL if process.returncode == 0 and ran else End.FAILED


@dataclass
class Counts:
    """How the runs of each program ended, and how long they took."""

    ends: dict[FaultProgram, Counter[End]] = field(default_factory=dict)
    seconds: dict[FaultProgram, float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, program: FaultProgram, ended: End, seconds: float) -> None:
        with self.lock:
            self.ends.setdefault(program, Counter())[ended] += 1
            self.seconds[program] = self.seconds.get(program, 0) + seconds

    def bad(self) -> int:
        return sum(sum(each.values()) - each[End.WELL] for each in self.ends.values())

    def lines(self) -> Iterable[str]:
        """A table, a program in each row."""
        yield "| fault | program | runs | failed | crashed | hung | s a run |"
        yield "|---|---|---|---|---|---|---|"
        for program, ends in self.ends.items():
            runs = sum(ends.values())
            bad = " | ".join(str(ends[each]) for each in (End.FAILED, End.CRASHED, End.HUNG))
            seconds = self.seconds[program] / runs
            yield f"| {program.fault} | {program.case} | {runs} | {bad} | {seconds:.2f} |"


def repeat(
    programs: Sequence[FaultProgram],
    runs: int,
    at_once: int,
    one: Callable[[FaultProgram], End],
    over: Callable[[], bool] = lambda: False,
) -> Counts:
    """Runs all programs once, then again, so that all have been run as often if it is ``over``
    early."""
    counts = Counts()

    def run_one(program: FaultProgram) -> None:
        if over():
            return
        started = time.monotonic()
        ended = one(program)
        counts.add(program, ended, time.monotonic() - started)

    with ThreadPoolExecutor(at_once) as pool:
        for _ in range(runs):
            for program in programs:
                pool.submit(run_one, program)
    return counts


def main() -> int:
    usual_jobs = 2 * (os.cpu_count() or 1)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000, help="of each program")
    parser.add_argument("--name", default="", help="only faults and programs named so")
    parser.add_argument("--limit-s", type=float, default=120, help="a run that takes longer hangs")
    parser.add_argument("--at-once", type=int, default=usual_jobs, help="processes")
    parser.add_argument(
        "--most-s", type=float, default=float("inf"), help="begin no run after this"
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "dev" / "tests")
    chosen = parser.parse_args()
    programs = [each for each in PROGRAMS if chosen.name in f"{each.fault} {each.case}"]
    missing = {each.binary for each in programs if not (chosen.build / each.binary).exists()}
    if missing or not programs:
        print(
            f"not there: {', '.join(sorted(missing)) or chosen.name}. Next: build the targets "
            "unit_tests and stress_tests of the preset dev",
            file=sys.stderr,
        )
        return 2
    end = time.monotonic() + chosen.most_s
    counts = repeat(
        programs,
        chosen.runs,
        chosen.at_once,
        lambda each: run(each, chosen.build, chosen.limit_s),
        lambda: time.monotonic() > end,
    )
    print(*counts.lines(), sep="\n")
    runs = sum(map(Counter.total, counts.ends.values()))
    print(f"{runs} runs, {counts.bad()} that did not end well")
    return 1 if counts.bad() else 0


if __name__ == "__main__":
    sys.exit(main())
