"""What the processes of a run told of themselves, for those that show it."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.evidence import Evidence, calls_of, measured
from heapwise.evidence.demand import Demand, counted_facts

CALLS = ("malloc", "calloc", "realloc", "aligned", "free")


@dataclass(frozen=True, order=True)
class RecordedBuild:
    """How an experiment's binary says that it was compiled."""

    compiler: str
    flags: str

    def __str__(self) -> str:
        return f"{self.compiler} {self.flags}".strip()


@dataclass(frozen=True)
class Requests:
    """What the program of a comparison asked of malloc in the process whose calls were counted."""

    demand: Demand
    calls: dict[str, int]
    """Function -> how often it was called; only those that were."""

    sizes: list[int]
    """How many requests there were of each size, by powers of two."""


def builds(evidence: Evidence, experiment: str = "") -> list[RecordedBuild]:
    """Each one once, of all processes or those of one experiment, however they ended."""
    starts = (
        process.facts.start
        for process in evidence.stored.processes
        if experiment in ("", process.experiment)
    )
    return sorted(
        {
            RecordedBuild(start.compiler, start.flags or "")
            for start in starts
            if start and start.compiler
        }
    )


def rounds(evidence: Evidence, experiment: str = "") -> int:
    """How many rounds have a process that counts, in all or in one experiment."""
    return len(
        {
            process.round
            for process in measured(evidence.stored)
            if experiment in ("", process.experiment)
        }
    )


def requests(evidence: Evidence) -> Requests | None:
    """None if no process was counted, or it asked for nothing."""
    demand = calls_of(evidence).demand
    facts = counted_facts(evidence.stored, evidence.labels)
    if demand is None or not demand.requests or facts is None:
        return None
    calls = {name: number for name in CALLS if (number := getattr(facts.calls, name))}
    return Requests(demand, calls, facts.sizes or [])
