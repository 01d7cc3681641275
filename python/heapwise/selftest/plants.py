"""What is planted: each fault with the check that has to find it."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from heapwise.catalog import OUR_MALLOC, PROBE, TOY, native_part
from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.model import PlanOptions, Process
from heapwise.runner import preflight
from heapwise.selftest.workbench import Bent, Workbench
from heapwise.store import StoredRun
from heapwise.trust.judge import check_modules

Seen = tuple[bool, str]
"""Whether the check fired, and its words."""

WORK = ("work", "4000")
"""The toy's usual work: some 20 ms of arithmetic and 200,000 allocations."""


@dataclass(frozen=True)
class Plant:
    """``look`` plants the fault, measures, and says whether ``check`` fired.

    An OSError of it means that the fault cannot be planted here.
    """

    check: str
    planted: str
    look: Callable[[Workbench], Seen]


def verdict_of(id: str, evidence: Evidence) -> Seen:
    """The verdict of one check: it fired if it warns or fails."""
    for module in check_modules():
        if id == module.ID:
            found = module.check(evidence)
            return found.verdict in ("warn", "fail"), found.detail
    return False, f"there is no check {id}"


def _measured(id: str, measure: Callable[[Workbench], Evidence]) -> Callable[[Workbench], Seen]:
    def look(bench: Workbench) -> Seen:
        return verdict_of(id, measure(bench))

    return look


def _compared(
    id: str, words: tuple[str, ...], *subjects: Bent, rounds: int = 2, control: Bent | None = None
) -> Callable[[Workbench], Seen]:
    """``compare`` of the toy, which may be refused instead of measured: that is found too."""

    def look(bench: Workbench) -> Seen:
        try:
            return verdict_of(id, bench.compare(words, subjects, rounds, control=control))
        except Problem as problem:
            return True, problem.what

    return look


def _library() -> Bent:
    return Bent("ours", library=str(native_part(OUR_MALLOC)))


def _child_without_library(bench: Workbench) -> Seen:
    return _compared("V1", ("drop-preload", "100000"), _library())(bench)


def _another_library(bench: Workbench) -> Seen:
    wrong = Bent("wrong", library=str(native_part(PROBE)))
    return _compared("V1", WORK, wrong)(bench)


def _privileged(bench: Workbench) -> Seen:
    program = bench.store / "privileged"
    shutil.copy(native_part(TOY), program)
    program.chmod(0o4755)
    try:
        found = preflight(str(program))
    except Problem as problem:
        return True, problem.what
    return False, found.sentence


def _rare_calls(bench: Workbench) -> Seen:
    return _compared("V3", ("spin", "20"), _library())(bench)


def _missing_calls(bench: Workbench) -> Evidence:
    return bench.known({"iterations": 10_000, "made": 50}, ["malloc@glibc"], 1)


def _short_regions(bench: Workbench) -> Evidence:
    return bench.known({"iterations": 100}, ["slower-10"], 1)


def _inherited_tuning(bench: Workbench) -> Evidence:
    return bench.compare(
        WORK,
        [],
        1,
        environment={"MALLOC_ARENA_MAX": "1"},
        options=PlanOptions(keep_environment=True),
    )


def _drift(bench: Workbench) -> Evidence:
    """By sleeping: programs that come and go change how long work takes by more than the drift."""
    starts = str(bench.store / "starts")
    return bench.compare(("sleep-longer", "5"), [], 20, environment={"HEAPWISE_TOY_STARTS": starts})


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Other programs that use every processor."""
    busy = [
        subprocess.Popen([native_part(TOY), "spin", "60000"], stdin=subprocess.DEVNULL)
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for program in busy:
            program.kill()
            program.wait()


def _busy_machine(bench: Workbench) -> Evidence:
    with neighbours(2 * (os.cpu_count() or 1)):
        return bench.compare(WORK, [], 3)


NO_RANDOM_ADDRESSES, ASK = 0x0040000, 0xFFFFFFFF
"""Flags of personality(2)."""


@contextmanager
def fixed_addresses() -> Iterator[None]:
    """Children get their stack, heap and libraries at the same places. OSError if refused."""
    library = ctypes.CDLL(None, use_errno=True)
    before = library.personality(ctypes.c_ulong(ASK))
    if before < 0 or library.personality(ctypes.c_ulong(before | NO_RANDOM_ADDRESSES)) < 0:
        raise OSError(ctypes.get_errno(), "personality")
    try:
        yield
    finally:
        library.personality(ctypes.c_ulong(before))


def _same_addresses(bench: Workbench) -> Evidence:
    with fixed_addresses():
        return bench.compare(WORK, [], 2)


def _after_another(bench: Workbench) -> Evidence:
    """By sleeping, as ``_drift``."""
    mark = str(bench.store / "mark")
    other = Bent("other", {"HEAPWISE_TOY_LEAVES": "1"})
    return bench.compare(("after-mark", "40"), [other], 10, environment={"HEAPWISE_TOY_MARK": mark})


def _two_days(bench: Workbench) -> Evidence:
    """Two runs, of which the second is stored as a later part of the first."""
    first, second = (
        bench.compare(("sleep-for", "40"), [Bent("other", {"HEAPWISE_TOY_SLEEPS_MS": more})], 6)
        for more in ("0", "80")
    )
    return Evidence(joined(first.stored, second.stored))


def joined(first: StoredRun, second: StoredRun) -> StoredRun:
    """The rounds of the second run as if they had been measured a day after those of the first."""
    rounds = 1 + max(process.round for process in first.processes)
    number = 1 + max(process.number for process in first.processes)
    return replace(
        first,
        processes=first.processes
        + [
            replace(p, number=p.number + number, round=p.round + rounds, started_at=_day_after(p))
            for p in second.processes
        ],
        samples=first.samples
        + [replace(s, process=s.process + number, round=s.round + rounds) for s in second.samples],
    )


def _day_after(process: Process) -> str:
    return (datetime.fromisoformat(process.started_at) + timedelta(days=1)).isoformat()


def _prints(word: str) -> Bent:
    return Bent("other", {"HEAPWISE_TOY_PRINTS": word})


PLANTS = [
    Plant("V1", "a child that runs without the library", _child_without_library),
    Plant("V1", "a library that is not an allocator", _another_library),
    Plant("V2", "a program with more rights than its user", _privileged),
    Plant("V3", "a program that hardly allocates", _rare_calls),
    Plant("V4", "half of the calls left out", _measured("V4", _missing_calls)),
    Plant(
        "V5",
        "the same allocator 30 % slower under its second label",
        _compared(
            "V5", WORK, rounds=8, control=Bent("control", {"HEAPWISE_TOY_SLOWER_PERCENT": "30"})
        ),
    ),
    Plant("V8", "another output under one allocator", _compared("V8", WORK, _prints("other"))),
    Plant("V8", "a program that prints nothing", _compared("V8", ("calls", "300000"))),
    Plant(
        "V8",
        "a child that is left behind under one allocator",
        _compared("V8", WORK, Bent("other", {"HEAPWISE_TOY_LINGERS": "1"})),
    ),
    Plant("V9", "each process slower than the one before", _measured("V9", _drift)),
    Plant("V10", "the same addresses in every process", _measured("V10", _same_addresses)),
    Plant("V13", "two neighbours on each processor", _measured("V13", _busy_machine)),
    Plant("V17", "a timed region of 0.3 microseconds", _measured("V17", _short_regions)),
    Plant("V20", "an allocator's variable in the environment", _measured("V20", _inherited_tuning)),
    Plant("V22", "a program as short as its start", _compared("V22", ("calls", "10"))),
    Plant(
        "V23",
        "two rounds for three allocators",
        _compared("V23", WORK, Bent("a"), Bent("b", {"HEAPWISE_TOY_SLOWER_PERCENT": "50"})),
    ),
    Plant(
        "V27",
        "a program that works for 0.2 s",
        _compared("V27", ("work-for", "200"), Bent("slow", {"HEAPWISE_TOY_SLOWER_PERCENT": "100"})),
    ),
    Plant("V28", "slower after one subject", _measured("V28", _after_another)),
    Plant(
        "V29",
        "one subject that sleeps beside its work",
        _compared("V29", WORK, Bent("other", {"HEAPWISE_TOY_SLEEPS_MS": "200"}), rounds=8),
    ),
    Plant("V30", "slower on another day", _measured("V30", _two_days)),
    Plant("V31", "a program that sleeps", _compared("V31", ("sleep-for", "50"))),
]
"""Each has to be found."""

NOT_POSSIBLE = {
    "V12": "the clock of a processor cannot be changed by a program",
    "V14": "a counter cannot be made to stop part of the time",
    "V19": "settings of the kernel belong to the administrator",
}

QUIET = ("V1", "V4", "V8", "V20")
"""Checks that must not fire where nothing was planted, however noisy the machine is."""
