"""Does the program use malloc enough for the choice of the allocator to matter?

A program that hardly allocates runs equally fast under all allocators. One process that is not
timed counts its calls.
If it warns: no allocator is called faster than another. Use an input for which the program
allocates more, or compare memory only.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import Check
from heapwise.wording.numbers import percent

ID, TITLE = "V3", "The program uses malloc enough to tell"


def check(evidence: Evidence) -> Check:
    if evidence.stored.run.plan.kind == "run" and evidence.whole_programs:
        return Check(ID, TITLE, "unavailable",
                     "The calls of malloc of the programs were not counted.")
    if evidence.stored.run.plan.kind == "run":
        return Check(ID, TITLE, "unavailable",
                     "Does not apply: the experiments do nothing but allocate and free.")
    demand = evidence.demand
    if evidence.compares_builds:
        return Check(ID, TITLE, "unavailable",
                     "Does not apply: programs are compared, which can differ in everything.")
    if demand is None:
        return Check(ID, TITLE, "unavailable",
                     f"The program's calls of malloc were not counted{_why(evidence)}.")
    figures = {"calls": demand.requests, "bytes_requested": demand.bytes_requested,
               "seconds": demand.seconds, "calls_per_s": demand.per_second,
               "share_of_time": demand.share}
    if demand.share is None or demand.per_second is None:
        return Check(ID, TITLE, "unavailable", "No process recorded its time.", figures)
    rate = (f"{demand.requests:,.0f} allocations, {demand.per_second:,.0f} a second, about "
            f"{percent(demand.share)} of the time at 20 ns a pair")
    if demand.is_too_small:
        return Check(ID, TITLE, "warn", f"{rate}: too few for the allocator to change the speed, "
                     "so none is called faster. Differences in memory may still be real.", figures)
    return Check(ID, TITLE, "pass", f"{rate}.", figures)


def _why(evidence: Evidence) -> str:
    failed = [p for p in evidence.stored.processes if p.facts.counting and p.status != "ok"]
    return f": the counting process {failed[-1].reason or 'failed'}" if failed else ""
