"""Did each timed region last long enough for the clock?

Reading a clock takes time, too. A timed region should last at least 1 ms and as long as a thousand
readings of the clock. A program should last at least 5 ms, or mostly its start is measured.
If it warns: use more iterations, or a larger input.
"""

from __future__ import annotations

from msgspec import to_builtins

from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.model import Check, Clock, Process, Sample
from heapwise.trust.applies import Applies, programs
from heapwise.wording.lists import counted, listed

ID, TITLE = "V17", "Long enough for the clock"

LEAST_NS = 1_000_000
OVERHEADS = 1000
"""A region lasts 1 ms and a thousand times what reading the clock costs: then it adds 0.1 %."""

PROGRAM_LEAST_S = 0.005
"""Below 5 ms, starting a process is what is measured."""


def _programs(evidence: Evidence) -> Check:
    taken = [wall_s for p in measured(evidence.stored) if (wall_s := p.facts.wall_s) is not None]
    if not taken:
        return Check(ID, TITLE, "unavailable", "No process recorded how long it took.")
    shortest = min(taken)
    figures = {"shortest_s": shortest, "processes": len(taken)}
    if shortest < PROGRAM_LEAST_S:
        return Check(
            ID,
            TITLE,
            "warn",
            f"The shortest process took {shortest * 1000:.1f} ms: "
            "mostly the start of a program. Give it more to do.",
            figures,
        )
    return Check(
        ID,
        TITLE,
        "pass",
        f"The shortest process took {shortest * 1000:,.0f} ms, timed "
        "in nanoseconds by the launcher.",
        figures,
    )


def _regions(evidence: Evidence) -> Check:
    stored = evidence.stored
    clocks = {p.number: c for p in measured(stored) if (c := _clock(p))}
    timed = [
        (s, elapsed_ns)
        for s in evidence.filtered.kept
        if (elapsed_ns := s.facts.elapsed_ns) is not None and s.process in clocks
    ]
    if not timed:
        return Check(ID, TITLE, "unavailable", "The clock's resolution and cost were not recorded.")
    short = [_name(s) for s, ns in timed if _region(s, ns) < _needed(clocks[s.process])]
    clock = next(iter(clocks.values()))
    shortest_ns = min(_region(s, ns) for s, ns in timed)
    figures = {
        "clock": to_builtins(clock),
        "shortest_ns": shortest_ns,
        "samples": len(timed),
        "short": len(short),
    }
    if short:
        return Check(
            ID,
            TITLE,
            "warn",
            f"{counted(len(short), 'sample')} of {len(timed)} lasted "
            f"less than 1 ms or {OVERHEADS} readings of the clock: {listed(short)}. More "
            "iterations help.",
            figures,
        )
    return Check(
        ID,
        TITLE,
        "pass",
        f"The clock resolves {clock.resolution_ns} ns and costs "
        f"{clock.overhead_ns} ns to read; the shortest region lasted "
        f"{shortest_ns / 1e6:,.1f} ms.",
        figures,
    )


def _clock(process: Process) -> Clock | None:
    clock = process.facts.start.clock if process.facts.start else None
    return clock if clock and clock.overhead_ns is not None else None


def _region(sample: Sample, elapsed_ns: float) -> float:
    """The shortest single region between two readings, where the experiment says it."""
    return sample.facts.shortest_region_ns or elapsed_ns


def _needed(clock: Clock) -> float:
    return max(LEAST_NS, OVERHEADS * (clock.overhead_ns or 0.0))


def _name(sample: Sample) -> str:
    return f"{sample.experiment} {sample.subject}"


check = Applies(ID, TITLE, programs, _programs, others=_regions)
