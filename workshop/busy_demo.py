"""The comparison of ``make demo`` beside busy loops: which allocators are told apart from glibc.

A verdict is wrong if a quiet run found the other direction. Its figures are those of
docs/results/debian-12-amd-epyc-2-cores/sqlite3.md, or of a run that the user names.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heapwise.analysis.verdicts.rows import make_rows
from heapwise.evidence import Evidence
from heapwise.model import SIDE_BY_SIDE, Row
from heapwise.store import list_runs, read_run
from heapwise.wording.ratios import signed_ends

ALLOCATORS = ("heapwise", "tcmalloc", "mimalloc", "jemalloc", "tbbmalloc", "scudo")

QUIET: Mapping[str, float] = {
    "heapwise": 0.971,
    "tcmalloc": 0.970,
    "mimalloc": 0.983,
    "jemalloc": 0.984,
    "tbbmalloc": 1.05,
    "scudo": 1.15,
}
"""Time against glibc's, one process after the other."""

INPUT = Path("build/demo/input.sql")
MAKE_INPUT = "programs/sqlite3/full_text_index.py"


@dataclass(frozen=True)
class Told:
    """What a comparison says of one allocator. quiet: what a quiet run measured."""

    subject: str
    verdict: str
    ratio: float
    low: float
    high: float
    pairs: int
    quiet: float | None

    @property
    def is_told(self) -> bool:
        return self.verdict in ("better", "worse")

    @property
    def is_wrong(self) -> bool:
        return self.is_told and self.quiet is not None and (self.quiet < 1) != (self.ratio < 1)

    def __str__(self) -> str:
        word = {"better": "less", "worse": "more"}.get(self.verdict, self.verdict)
        quiet = "" if self.quiet is None else f"   quiet {self.quiet - 1:+.1%}"
        wrong = "   WRONG" if self.is_wrong else ""
        between = signed_ends(self.low, self.high)
        return f"{self.subject:<10} {self.pairs:>3}  {word:<14} {between:<18}{quiet}{wrong}"


def told(rows: list[Row], quiet: Mapping[str, float] = QUIET) -> list[Told]:
    """By processor time side by side, if the comparison went so far; else by time."""
    kind = {row.quantity for row in rows if row.ratio_low is not None}
    quantity = SIDE_BY_SIDE if SIDE_BY_SIDE in kind else "wall_time"
    return [
        Told(
            row.subject,
            row.verdict,
            row.ratio,
            row.ratio_low,
            row.ratio_high,
            row.n,
            quiet.get(row.subject),
        )
        for row in rows
        if row.quantity == quantity
        and row.subject in ALLOCATORS
        and row.ratio is not None
        and row.ratio_low is not None
        and row.ratio_high is not None
    ]


def quiet_ratios(evidence: Evidence) -> dict[str, float]:
    """Subject -> its time against that of the baseline, in a run on a quiet machine."""
    return {
        row.subject: row.ratio
        for row in make_rows(evidence)
        if row.quantity == "wall_time" and row.ratio is not None
    }


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Each loop is a session of its own, as the work of another user is."""
    running = [
        subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True)
        for _ in range(loops)
    ]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def measure(store: Path, loops: int, time: str) -> Evidence:
    """Raises CalledProcessError if the comparison ended with anything but a result."""
    if not INPUT.exists():
        INPUT.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, MAKE_INPUT, str(INPUT)], check=True)
    words = ["compare", "--time", time, "--store", str(store), "--input", str(INPUT)]
    words += ["--allocators", ",".join(["glibc", *ALLOCATORS]), "--", "sqlite3", ":memory:"]
    with busy(loops):
        done = subprocess.run([sys.executable, "-m", "heapwise", *words], check=False)
    if done.returncode not in (0, 4):
        raise subprocess.CalledProcessError(done.returncode, done.args)
    return Evidence(read_run(store, list_runs(store)[-1].id))


def summary(found: list[Told]) -> str:
    """``4 of 6 told apart from glibc, 0 wrong``."""
    apart, wrong = sum(one.is_told for one in found), sum(one.is_wrong for one in found)
    return f"{apart} of {len(ALLOCATORS)} told apart from glibc, {wrong} wrong"
