"""Were only comparable subjects ranked with each other?

If one allocator is tuned and others have their default settings, the comparison is not fair. The
same holds for a heap that is compiled into the program, so it is never ranked with libraries.
If it warns: do not compare the named rows with the others.
"""

from __future__ import annotations

from heapwise.evidence import Evidence, ranking_of
from heapwise.model import Check, Peer
from heapwise.wording.lists import listed

ID, TITLE = "V21", "Only equals were ranked together"


def check(evidence: Evidence) -> Check:
    subjects = [s for s in evidence.stored.run.plan.subjects if not s.control]
    if not any(subject.peer for subject in subjects):
        return Check(ID, TITLE, "unavailable", "No subject of this run is an allocator's library.")
    tuned = {s.name: list(s.peer.environment) for s in subjects if s.peer and is_tuned(s.peer)}
    apart = sorted(set().union(*ranking_of(evidence).compiled_in.values()))
    figures = {"tuned": tuned, "ranked_apart": apart}
    if tuned and len(tuned) < len([s for s in subjects if s.peer]):
        words = listed(f"{name} by {listed(names)}" for name, names in tuned.items())
        return Check(
            ID,
            TITLE,
            "warn",
            f"Tuned subjects are compared with others that have their defaults: {words}.",
            figures,
        )
    inlined = f" {listed(apart)}: compiled into the program, so ranked apart." if apart else ""
    return Check(
        ID,
        TITLE,
        "pass",
        "Each allocator has its default settings"
        f"{_needed([s.peer for s in subjects if s.peer])}.{inlined}",
        figures,
    )


def is_tuned(peer: Peer) -> bool:
    """Whether a variable of its own is set for it. Others, as a setting of the C library without
    which it does not work, are not tuning."""
    prefixes = tuple(prefix for prefix in peer.environment_prefixes if prefix)
    return any(name.startswith(prefixes) for name in peer.environment) if prefixes else False


def _needed(peers: list[Peer]) -> str:
    found = [
        f"{name}={value} for {peer.name}"
        for peer in peers
        for name, value in peer.environment.items()
    ]
    return f", and the settings that its authors require: {listed(found)}" if found else ""
