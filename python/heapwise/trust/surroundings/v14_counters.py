"""Were hardware counters available, and did they count all the time?

Counters show why something is faster. The counters of the kernel (page faults, context switches,
migrations) are available everywhere. Those of the processor are missing in many virtual machines.
If more counters are used than the processor has, the kernel counts each of them for a part of the
time, and the value is an estimate.
If it warns: the named counters are estimates. Time and memory are not affected.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.model import Check
from heapwise.wording.lists import listed
from heapwise.wording.numbers import percent

ID, TITLE = "V14", "Hardware counters"

WHOLE = 0.999

HARDWARE = ("instructions", "cycles", "dtlb_misses")


def check(evidence: Evidence) -> Check:
    shares = _shares(evidence)
    reason = _reason(evidence)
    figures = {"running_share": shares, "missing": reason}
    partial = [f"{name} during {percent(share)}" for name, share in shares.items() if share < WHOLE]
    if partial:
        return Check(
            ID,
            TITLE,
            "warn",
            "The kernel took turns between counters. The least in one "
            f"process: {listed(partial)}. Their values are estimates.",
            figures,
        )
    hardware = [name for name in shares if name in HARDWARE]
    if hardware:
        rest = f"; not available are {reason}" if reason else ""
        return Check(
            ID,
            TITLE,
            "pass",
            f"{listed(hardware, len(HARDWARE))} counted during the whole of every process{rest}.",
            figures,
        )
    instead = (
        f" The kernel's counters ran all the time: {listed(shares)}."
        if shares
        else " Time and memory are not affected."
    )
    return Check(
        ID,
        TITLE,
        "unavailable",
        f"Hardware counters are not available{': ' + reason if reason else ''}.{instead}",
        figures,
    )


def _shares(evidence: Evidence) -> dict[str, float]:
    """Counter -> the smallest share of a process's time that it ran."""
    found: dict[str, float] = {}
    for process in measured(evidence.stored):
        for counter in process.facts.counters or ():
            share = counter.running_ns / counter.enabled_ns if counter.enabled_ns else 1.0
            found[counter.name] = min(found.get(counter.name, 1.0), share)
    return found


def _reason(evidence: Evidence) -> str:
    """In the launcher's words, else in those of the machine's description."""
    said = next(
        (p.facts.counters_missing for p in measured(evidence.stored) if p.facts.counters_missing),
        "",
    )
    missing = evidence.stored.run.machine.unavailable
    return said or next(
        (why for name, why in missing.items() if "counter" in name or "perf" in name), ""
    )
