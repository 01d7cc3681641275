"""Does the program use malloc enough for the choice of the allocator to matter?

A program that hardly allocates runs equally fast under all allocators. One process that is not
timed counts its calls. The time that calls take, and that the kernel takes to map pages for blocks,
is estimated as a share of the program's processor time.
If it warns: the small share explains why no allocator is faster. Use an input for which the program
allocates more, or compare memory only. If a difference was measured nevertheless, it stands. Look
for its cause in page faults, in the start of the library (V22) or in the layout of memory (V10).
"""

from __future__ import annotations

from heapwise.evidence import Evidence, calls_of, comparisons_of
from heapwise.evidence.demand import Demand
from heapwise.model import Check
from heapwise.trust.applies import Applies, programs
from heapwise.wording.lists import listed
from heapwise.wording.numbers import TIME_UNITS, percent

ID, TITLE = "V3", "The program uses malloc enough to tell"


def _of_experiments(evidence: Evidence) -> Check:
    why = (
        "The calls of malloc of the programs were not counted."
        if evidence.whole_programs
        else "Does not apply: the experiments do nothing but allocate and free."
    )
    return Check(ID, TITLE, "unavailable", why)


def _of_programs(evidence: Evidence) -> Check:
    if evidence.compares_builds:
        return Check(
            ID,
            TITLE,
            "unavailable",
            "Does not apply: programs are compared, which can differ in everything.",
        )
    demand = calls_of(evidence).demand
    if demand is None:
        return Check(
            ID,
            TITLE,
            "unavailable",
            f"The program's calls of malloc were not counted{_why(evidence)}.",
        )
    return _judged(evidence, demand)


def _judged(evidence: Evidence, demand: Demand) -> Check:
    figures = {
        "calls": demand.requests,
        "bytes_requested": demand.bytes_requested,
        "seconds": demand.seconds,
        "calls_per_s": demand.per_second,
        "share_of_time": demand.calls_share,
        "pages": demand.pages,
        "share_of_pages": demand.pages_share,
    }
    if demand.missed_most:
        return Check(
            ID,
            TITLE,
            "unavailable",
            f"{demand.frees:,} blocks were freed and only "
            f"{demand.requests:,} allocations were counted: most of them call a malloc "
            "that the counter does not see, for example from a library that is opened "
            "with RTLD_DEEPBIND.",
            figures,
        )
    calls, pages = demand.calls_share, demand.pages_share
    if calls is None or pages is None or demand.per_second is None:
        return Check(ID, TITLE, "unavailable", "No process recorded its time.", figures)
    words = (
        f"{demand.requests:,.0f} allocations, {demand.per_second:,.0f} for each second of "
        f"processor time: calls take about {percent(calls)} of it at 20 ns a pair, and pages "
        f"for blocks about {percent(pages)} at 0.5 µs a page"
    )
    if not demand.is_too_small:
        return Check(ID, TITLE, "pass", f"{words}.", figures)
    if found := _faster_or_slower(evidence):
        return Check(
            ID,
            TITLE,
            "warn",
            f"{words}. That is little, and yet the times differ of "
            f"{listed(found)}. What was measured stands: look for another cause, for "
            "example the start of the library (V22).",
            figures,
        )
    return Check(
        ID,
        TITLE,
        "warn",
        f"{words}: too little for the allocator to change the speed. "
        "Differences in memory may still be real.",
        figures,
    )


def _faster_or_slower(evidence: Evidence) -> list[str]:
    """Subjects whose strict interval of a time excludes 1 where the program hardly allocates."""
    return sorted(
        {
            claim.subject
            for claim in comparisons_of(evidence).claims.values()
            if claim.differs
            and calls_of(evidence).hardly_allocates(claim.cell.setup)
            and _unit(evidence, claim.cell.experiment, claim.cell.quantity) in TIME_UNITS
        }
    )


def _unit(evidence: Evidence, experiment: str, quantity: str) -> str:
    declared = evidence.quantities.get((experiment, quantity))
    return declared.unit if declared else ""


def _why(evidence: Evidence) -> str:
    failed = [p for p in evidence.stored.processes if p.facts.counting and p.status != "ok"]
    return f": the counting process {failed[-1].reason or 'failed'}" if failed else ""


check = Applies(ID, TITLE, programs, _of_programs, others=_of_experiments)
