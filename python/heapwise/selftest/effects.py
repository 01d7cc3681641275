"""Effects of known size: the sign and the size have to come out."""

from __future__ import annotations

from collections.abc import Iterator

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import Planted, Row
from heapwise.selftest.plants import QUIET, verdict_of
from heapwise.selftest.resolution import resolution
from heapwise.selftest.workbench import Bent, Workbench
from heapwise.wording.numbers import signed
from heapwise.wording.ratios import signed_ends

PERCENTS = (1, 3, 10)
SPREAD = 0.5
"""A planted effect of 10 % may come out as 5 to 15 %: not all of the toy's work is bent."""

KNOWN_MIB, ALLOWED = 100, 0.02
ROUNDS = 12


def effects(bench: Workbench) -> Iterator[Planted]:
    """Time in an experiment, time and memory of a program, and silence where nothing is."""
    evidence = bench.known({"iterations": 1_000_000}, [f"slower-{p}" for p in PERCENTS], ROUNDS)
    rows = analyse(evidence).rows
    for percent in PERCENTS:
        yield judged(
            "V6",
            f"{percent} % more work in an experiment",
            percent,
            find(rows, f"slower-{percent}", "operation"),
        )
    yield from _programs(bench)
    yield _memory(bench)


def _programs(bench: Workbench) -> Iterator[Planted]:
    slower = [Bent(f"slower-{p}", {"HEAPWISE_TOY_SLOWER_PERCENT": str(p)}) for p in PERCENTS]
    evidence = bench.compare(("compute", "30000"), slower, ROUNDS)
    rows = analyse(evidence).rows
    yield resolution(evidence)
    for percent in PERCENTS:
        yield judged(
            "V6",
            f"{percent} % more work in a program",
            percent,
            find(rows, f"slower-{percent}", "cpu_time"),
        )
    larger = [Bent(f"larger-{p}", {"HEAPWISE_TOY_LARGER_PERCENT": str(p)}) for p in PERCENTS]
    evidence = bench.compare(("work", "2000"), larger, ROUNDS)
    rows = analyse(evidence).rows
    for percent in PERCENTS:
        yield judged(
            "V6",
            f"{percent} % more memory in a program",
            percent,
            find(rows, f"larger-{percent}", "peak_memory"),
        )
    yield from silence(evidence)


def find(rows: list[Row], subject: str, quantity: str) -> Row | None:
    return next((row for row in rows if row.subject == subject and row.quantity == quantity), None)


def judged(check: str, planted: str, percent: int, row: Row | None) -> Planted:
    """``too noisy`` if nothing could be told; ``missed`` for another sign or size."""
    share = percent / 100
    if row is None or row.ratio is None or row.ratio_low is None or row.ratio_high is None:
        return Planted(check, planted, "missed", "it was not measured", share)
    low, high = ((end - 1) * 100 for end in (row.ratio_low, row.ratio_high))
    words = f"{signed(row.ratio)} %, {signed_ends(row.ratio_low, row.ratio_high)}"
    fits = low <= percent * (1 + SPREAD) and high >= percent * (1 - SPREAD)
    if row.verdict == "worse" and fits:
        return Planted(check, planted, "found", words, share)
    if row.verdict in ("cannot tell", "no difference") and fits:
        return Planted(check, planted, "too noisy", words, share)
    return Planted(check, planted, "missed", f"{words}; {row.verdict}", share)


def silence(evidence: Evidence) -> Iterator[Planted]:
    """The silence of the checks that noise cannot make fire."""
    for id in QUIET:
        fired, words = verdict_of(id, evidence)
        yield Planted(id, "nothing", "false alarm" if fired else "found", words)


def _memory(bench: Workbench) -> Planted:
    """Twice as much memory minus once is known, whatever the program itself needs."""
    planted = f"{KNOWN_MIB} MiB of touched memory"
    peaks = []
    for amount in (KNOWN_MIB, 2 * KNOWN_MIB):
        evidence = bench.compare(("touch", str(amount)), [], 1)
        found = [
            p.facts.peak_rss_bytes
            for p in evidence.stored.processes
            if p.status == "ok" and p.facts.counting is not True
        ]
        peaks.append(min(peak or 0 for peak in found) if found else 0)
    seen = (peaks[1] - peaks[0]) / 2**20
    near = abs(seen / KNOWN_MIB - 1) <= ALLOWED
    return Planted("V7", planted, "found" if near else "missed", f"{seen:.1f} MiB more")
