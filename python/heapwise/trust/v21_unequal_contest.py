"""Did all subjects of a ranking compete under the same conditions?

An allocator that was tuned beside others as they come, or calls that the compiler put into the
program beside calls through the linkage table, are two contests in one table.
If it warns: read the named rows apart from the others.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import Check, Peer
from heapwise.trust.words import listed

ID, TITLE = "V21", "Only equals were ranked together"

HEAPS = "heap"
"""The family in which whole allocators compete. Pools are meant to be compared with malloc."""


def check(evidence: Evidence) -> Check:
    subjects = [s for s in evidence.stored.run.plan.subjects if not s.control]
    if not any(subject.peer for subject in subjects):
        return Check(ID, TITLE, "unavailable", "No subject of this run is an allocator's library.")
    tuned = {s.name: list(s.peer.environment) for s in subjects if s.peer and is_tuned(s.peer)}
    inlined = _inlined(evidence)
    figures = {"tuned": tuned, "inlined": inlined}
    troubles = []
    if tuned and len(tuned) < len([s for s in subjects if s.peer]):
        words = listed(f"{name} by {listed(names)}" for name, names in tuned.items())
        troubles.append(f"tuned subjects stand beside others as they come: {words}")
    if inlined:
        troubles.append(f"{listed(inlined)} is compiled into the program, and stands beside "
                        "libraries that are called through the linkage table")
    if troubles:
        words = "; ".join(troubles)
        return Check(ID, TITLE, "warn", f"{words[0].upper()}{words[1:]}.", figures)
    return Check(ID, TITLE, "pass", "Each allocator is as it comes"
                 f"{_needed([s.peer for s in subjects if s.peer])}.", figures)


def is_tuned(peer: Peer) -> bool:
    """Whether a variable of its own is set for it. Others, as a setting of the C library without
    which it does not work, are no tuning."""
    prefixes = tuple(prefix for prefix in peer.environment_prefixes if prefix)
    return any(name.startswith(prefixes) for name in peer.environment) if prefixes else False


def _needed(peers: list[Peer]) -> str:
    found = [f"{name}={value} for {peer.name}" for peer in peers
             for name, value in peer.environment.items()]
    return f", with what its makers tell everybody to set: {listed(found)}" if found else ""


def _inlined(evidence: Evidence) -> list[str]:
    """Subjects without a library in experiments that rank them beside libraries."""
    found: dict[str, None] = {}
    for experiment in evidence.stored.run.experiments:
        kinds = {spec.name: spec.kind for spec in experiment.subjects}
        if experiment.family == HEAPS and "malloc" in kinds.values() and not evidence.groups:
            found |= dict.fromkeys(n for n, kind in kinds.items()
                                   if kind == "inline" and n not in evidence.never_ranked)
    return list(found)
