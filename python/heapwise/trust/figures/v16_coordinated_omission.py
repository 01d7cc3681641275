"""Do latencies include the time that a request waits before it is served?

A closed loop sends a request only after the last one was answered. So a stall costs one slow answer
and hides all requests that would have come meanwhile. An open loop sends by a schedule, and
measures from the planned moment. Its figures count only if the schedule was kept. So the check
looks at the achieved rate, the errors and the generator's own load in each sample.
If it warns: give the generator more processors (--cpus leaves the others to it), or use lower
--rates. A sample whose load was not as intended is left out, with the reason.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.kept import timed
from heapwise.model import Check, LoadFacts, Process
from heapwise.trust.applies import Applies, servers
from heapwise.wording.numbers import percent

ID, TITLE = "V16", "Latencies are from the planned moment"

MANY_LOST = 0.1
"""The share of the samples: from this share on, what is left is a choice of the easy moments."""

ENOUGH = 10_000
"""Requests of a sample, ten of which lie beyond its 99.9th percentile."""

FULL = 0.9
"""The share of the generator's processors, in a load without a rate: then it was the slower one."""


def _of_servers(evidence: Evidence) -> Check:
    servers = [p for p in evidence.stored.processes if timed(p) and p.facts.load is not None]
    scheduled = [p for p in servers if _load(p).intended_rate]
    lost = [p for p in servers if p.status == "discarded"]
    kept = [_load(p) for p in scheduled if p.status == "ok"]
    figures: dict[str, float] = {
        "servers": len(servers),
        "scheduled": len(scheduled),
        "discarded": len(lost),
    }
    if kept:
        figures["least_share"] = round(min(load.share() or 0.0 for load in kept), 4)
    if any(not load.open_loop for load in kept):
        return Check(
            ID, TITLE, "fail", "Latencies of a generator that has no schedule were kept.", figures
        )
    if len(lost) > MANY_LOST * max(1, len(servers)):
        return Check(
            ID,
            TITLE,
            "warn",
            f"{len(lost)} of {len(servers)} samples were left out; the "
            f"first because {lost[0].reason}.",
            figures,
        )
    if full := _full(servers):
        return Check(ID, TITLE, "warn", full, figures)
    if not scheduled:
        return Check(
            ID,
            TITLE,
            "unavailable",
            "Requests were sent as fast as they were answered: "
            "throughput is measured, and no latency.",
            figures,
        )
    return Check(
        ID,
        TITLE,
        "pass",
        f"{len(kept)} loads by a schedule: at least "
        f"{percent(figures.get('least_share', 1.0))} of the intended rate, no error, and "
        f"latencies from the planned moment.{_few(kept)}",
        figures,
    )


def _load(process: Process) -> LoadFacts:
    assert process.facts.load is not None
    return process.facts.load


def _few(kept: list[LoadFacts]) -> str:
    """What a high percentile of a short load is worth."""
    fewest = min((load.requests for load in kept), default=ENOUGH)
    if fewest >= ENOUGH:
        return ""
    slowest = "the slowest" if fewest <= 1000 else f"one of the {-(-fewest // 1000)} slowest"
    return (
        f" The 99.9th percentile of {fewest:,} requests is {slowest} of them: a longer load "
        "tells more."
    )


def _full(servers: list[Process]) -> str:
    """A generator that cannot send more hides what the server could do."""
    free = [_load(p) for p in servers if p.status == "ok" and not _load(p).intended_rate]
    full = [load for load in free if float(load.generator_cpu or 0) > FULL]
    if not full:
        return ""
    return (
        f"In {len(full)} of {len(free)} loads without a rate the generator used more than "
        f"{percent(FULL)} of its processors: the throughput may be its own limit."
    )


check = Applies(
    ID,
    TITLE,
    servers,
    _of_servers,
    others="Does not apply: nothing was sent by a schedule. "
    "Latencies of calls are those of a closed loop, and no latency under load.",
)
