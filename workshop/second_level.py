"""The rows of the heap's second level, as ratios to the best peer: of a stored run, and by counts.

A ratio above 1 says that our heap is better. What is counted (instructions, resident memory, the
least processor time of processes that take turns) needs no quiet machine.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from heapwise.analysis.summary.headlines import figures
from heapwise.catalog.peers import choose_peers
from heapwise.document.markdown import table
from heapwise.evidence import Evidence
from heapwise.machine.processor import identity, model
from heapwise.model import Peer, Trust
from workshop.aims.goal import Goal, worst_first
from workshop.aims.judged import goals_of

SOURCE = Path(__file__).with_name("counted_rows.c")
HEAD = ["row", "by", "ours / best", "best", "aim", "verdict"]
COMMAND = "python -m workshop second-level --page FILE"
OURS = "heapwise"
MIB = 1 << 20
BLOCKS = 100_000
THREADS, CROWD = 100, 2000
TIMEOUT_S = 120

VARIES: Mapping[str, Callable[[Sequence[float]], float]] = {"processor time": min, "KiB": median}
"""What differs between processes of one peer -> which of the values counts."""


@dataclass(frozen=True)
class Counted:
    """A row that ``counted_rows.c`` can do. rival: the only peer that counts; "": the best. aim:
    the least ratio. most: the aim is this cost instead. above: the aim is the rival's cost and this
    much more."""

    says: str
    by: str
    words: tuple[str, ...]
    rival: str = ""
    aim: float = 1.0
    most: float | None = None
    above: float | None = None

    def is_met(self, ours: float, best: float) -> bool:
        """Whether our cost keeps the aim, beside that of the best peer."""
        if self.most is not None:
            return ours <= self.most
        return ours - best <= self.above if self.above is not None else best >= self.aim * ours

    @property
    def bound(self) -> str:
        """The aim in words."""
        if self.most is not None:
            return f"at most {self.most:,.0f} {self.by}"
        if self.above is not None:
            return f"at most {self.above:,.0f} {self.by} more"
        return f"at least {self.aim:.2f}x"


COUNTED = (
    Counted("free of 16 B in order", "instructions", ("free", "16", str(BLOCKS), "ordered")),
    Counted("free of 16 B at random", "instructions", ("free", "16", str(BLOCKS), "random")),
    Counted("free of 64 B in order", "instructions", ("free", "64", str(BLOCKS), "ordered")),
    Counted("free of 64 B at random", "instructions", ("free", "64", str(BLOCKS), "random")),
    *(
        Counted(
            f"calloc of {mib} MiB that is used",
            "processor time",
            ("calloc", str(mib * MIB), str(800 // mib)),
            aim=1 / 1.1,
        )
        for mib in (1, 4, 16)
    ),
    Counted(
        f"{THREADS} threads that used many sizes and wait",
        "KiB a thread",
        ("threads", str(THREADS), "used"),
        "glibc",
        most=600,
    ),
    Counted(
        f"{CROWD:,} threads that used many sizes and wait",
        "KiB a thread",
        ("threads", str(CROWD), "used"),
        "glibc",
        aim=1 / 1.2,
    ),
    Counted("a process that does nothing", "KiB", ("threads", "0", "silent"), "glibc", above=200),
)


def second_level(evidences: Sequence[tuple[Evidence, Trust]], turns: int) -> list[str]:
    """The table. turns: of each process whose time is taken; 0: nothing is counted."""
    measured = [
        _goal_row(part)
        for evidence, trust in evidences
        for goal in goals_of(evidence, "second-level", trust)
        if goal.verdict != "not measured"
        for part in (worst_first(goal) or [goal])
    ]
    counted = list(count_all(turns)) if turns else []
    return [f"Processor: {_processor()}.", "", *table(HEAD, [*measured, *counted])]


def second_level_page(lines: Sequence[str], peers: Sequence[Peer]) -> str:
    """The table as a page. peers: those it is beside."""
    names = ", ".join(f"{peer.name} {peer.version}".strip() for peer in peers)
    words = (
        "Above 1 our heap is better than the best of the others, or than the one that is named; in "
        "the row of sqlite3's memory, below 1. Rows by rounds are judged by a strict interval and "
        "the noise floor; others are counted."
    )
    told = ["# The second level of the heap", "", words, "", f"Allocators: {names}.", "", *lines]
    return "\n".join([f"<!-- Made by `{COMMAND}`; do not edit. -->", "", *told]).rstrip() + "\n"


def _processor() -> str:
    known = identity()
    kind = ", ".join(f"{name} {known[name]}" for name in ("family", "model") if name in known)
    return f"{model()}, {kind}" if kind else model()


def _goal_row(goal: Goal) -> list[str]:
    value = "" if goal.ratio is None else figures(goal.ratio, goal.low, goal.high)
    rival = goal.compared.partition(" / ")[2]
    return [goal.cell, "rounds", value, rival, goal.aim, goal.verdict]


def compared_peers() -> list[Peer]:
    """All that are installed, and ours in its default profile."""
    return [p for p in choose_peers([])[0] if p.name == OURS or not p.name.startswith(f"{OURS}-")]


def count_all(turns: int) -> Iterator[list[str]]:
    """A line of the table for each row that is counted, under all peers that are installed."""
    peers = compared_peers()
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        for row in COUNTED:
            yield counted_row(row, costs(program, row, peers, turns))


def build(folder: Path) -> Path:
    """The program that does the work of the rows."""
    program = folder / SOURCE.stem
    flags = ["-O1", "-fno-builtin", "-pthread"]
    subprocess.run(["cc", *flags, str(SOURCE), "-o", str(program)], check=True)
    return program


def costs(program: Path, row: Counted, peers: Sequence[Peer], turns: int) -> dict[str, float]:
    """Peer -> what the row costs under it; no peer that cannot do the work.

    What varies from process to process is taken in turns: of processor time the least counts, of
    a small process the median, since the system maps more or fewer pages of files around each that
    is touched.
    """
    chosen = [peer for peer in peers if not row.rival or peer.name in (OURS, row.rival)]
    found: dict[str, list[float]] = {}
    for _ in range(turns if row.by in VARIES else 1):
        for peer in chosen:
            cost = _cost(program, row, peer)
            if cost is not None:
                found.setdefault(peer.name, []).append(cost)
    counts = VARIES.get(row.by, min)
    return {name: counts(values) for name, values in found.items()}


def counted_row(row: Counted, found: dict[str, float]) -> list[str]:
    """The line of a row, from the cost under each peer."""
    rivals = {name: cost for name, cost in found.items() if name != OURS}
    if OURS not in found or not rivals:
        return [row.says, row.by, "", row.rival or "best peer", "", "not measured"]
    best = min(rivals, key=lambda name: rivals[name])
    ratio = rivals[best] / found[OURS]
    both = f"{ratio:.2f}x ({found[OURS]:,.0f}, {best} {rivals[best]:,.0f})"
    verdict = "met" if row.is_met(found[OURS], rivals[best]) else "not met"
    return [row.says, row.by, both, best, row.bound, verdict]


def _cost(program: Path, row: Counted, peer: Peer) -> float | None:
    if row.by == "instructions":
        return _instructions(program, row, peer)
    figures = _figures(program, row.words, peer)
    if figures is None:
        return None
    if row.by == "processor time":
        return figures[0] / 1000 / int(row.words[2])
    if row.by == "KiB":
        return figures[2]
    silent = _figures(program, (*row.words[:2], "silent"), peer)
    return None if silent is None else (figures[2] - silent[2]) / int(row.words[1])


def _figures(program: Path, words: Sequence[str], peer: Peer) -> list[int] | None:
    done = _run([str(program), *words], peer)
    return [int(word) for word in done.stdout.split()] if done.returncode == 0 else None


def _instructions(program: Path, row: Counted, peer: Peer) -> float | None:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = _run([*command, "--toggle-collect=free_all", str(program), *row.words], peer)
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found[1]) / int(row.words[2]) if done.returncode == 0 and found else None


def _run(command: Sequence[str], peer: Peer) -> subprocess.CompletedProcess[str]:
    preloaded = {"LD_PRELOAD": peer.path} if peer.path and peer.kind == "preload" else {}
    environment = {"PATH": os.environ["PATH"], **peer.environment, **preloaded}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
