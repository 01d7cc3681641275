"""Does the program use malloc enough for its choice to show?

A program that hardly allocates runs equally fast under all allocators. One process that is not
timed counts its calls.
If it warns: give the program an input that makes it allocate, or care for memory only.
"""

from __future__ import annotations

from typing import Any

from heapwise.evidence import Evidence
from heapwise.model import Check, Process
from heapwise.trust.words import percent

ID, TITLE = "V3", "The program uses malloc enough to tell"

PAIR_COST_S = 20e-9
"""What glibc takes for a malloc and its free in a program that uses the blocks: a round figure."""

SHARE_NEEDED = 0.01
"""Below an estimated 1 % of the time, even an allocator that costs nothing is lost in the noise."""


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    if stored.run.plan.kind == "run":
        return Check(ID, TITLE, "unavailable",
                     "Does not apply: the experiments do nothing but allocate and free.")
    counts = [p for p in stored.processes if p.facts.counting and p.facts.calls]
    if not counts:
        return Check(ID, TITLE, "unavailable", "The program's calls of malloc were not counted.")
    figures = _figures(counts[-1])
    share = figures["share_of_time"]
    if share is None:
        return Check(ID, TITLE, "unavailable", "The counting process recorded no time.", figures)
    rate = (f"{figures['calls']:,.0f} allocations, {figures['calls_per_s']:,.0f} a second, about "
            f"{percent(share)} of the time at 20 ns a pair")
    if share < SHARE_NEEDED:
        return Check(ID, TITLE, "warn", f"{rate}: too few for the allocator to change the speed "
                     "measurably. Differences in memory may still be real.", figures)
    return Check(ID, TITLE, "pass", f"{rate}.", figures)


def _figures(process: Process) -> dict[str, Any]:
    calls = process.facts.calls
    number = calls.requests if calls else 0
    wall_s = process.facts.plain_wall_s or process.facts.counted_wall_s
    return {
        "calls": number, "bytes_requested": process.facts.bytes_requested, "wall_s": wall_s,
        "calls_per_s": number / wall_s if wall_s else None,
        "share_of_time": number * PAIR_COST_S / wall_s if wall_s else None,
    }
