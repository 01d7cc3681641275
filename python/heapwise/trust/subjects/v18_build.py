"""Is every subject an optimised build of a known version?

A debug build is several times slower and says nothing about the real one. Heapwise records
versions, build-ids and compiler flags, and examines the code of each library. Without optimisation,
functions store their arguments on the stack; assertions leave calls in the code.
If it fails: install the release build.
"""

from __future__ import annotations

import re

from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.model import Check
from heapwise.model.json_value import Json
from heapwise.wording.lists import counted, listed

ID, TITLE = "V18", "Release builds, known by version"

MANY_ASSERTS = 5
"""Fewer are in release builds, too: a single one in Debian's tcmalloc."""


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    peers = [s.peer for s in stored.run.plan.subjects if s.peer is not None]
    builds = {
        (p.experiment, start.compiler, str(start.flags), start.ndebug)
        for p in measured(stored)
        if (start := p.facts.start) and start.compiler
    }
    figures: dict[str, Json] = {
        "peers": {p.name: {"version": p.version, "build_id": p.build_id} for p in peers},
        "builds": [
            {"compiler": c, "flags": f, "ndebug": n} for _, c, f, n in sorted(builds, key=str)
        ],
    }
    if not peers and not builds:
        return Check(ID, TITLE, "unavailable", "Neither an allocator nor a compiler is on record.")
    debug = [p.name for p in peers if p.debug_build]
    debug += [f"{p.name} (not optimised)" for p in peers if p.unoptimised and not p.debug_build]
    slow = [e for e, _, flags, _ in builds if not optimised(flags)]
    if debug or slow:
        return Check(ID, TITLE, "fail", f"Built for debugging: {listed(debug + slow)}.", figures)
    asserting = [
        f"{p.name} ({p.asserts} calls of a failed assertion)"
        for p in peers
        if p.asserts >= MANY_ASSERTS
    ]
    asserting += [e for e, _, _, ndebug in builds if ndebug is False]
    if asserting:
        return Check(ID, TITLE, "warn", f"Built with assertions: {listed(asserting)}.", figures)
    unnamed = [p.name for p in peers if not p.version and not p.build_id]
    if unnamed:
        return Check(
            ID, TITLE, "warn", f"Neither version nor build-id known of {listed(unnamed)}.", figures
        )
    return Check(ID, TITLE, "pass", _words(len(peers), [c for _, c, _, _ in builds]), figures)


def optimised(flags: str) -> bool:
    """The last -O counts, as for the compiler; none at all means -O0."""
    levels = re.findall(r"(?:^|\s)-O(\S*)", flags)
    return not flags or flags == "None" or bool(levels and levels[-1] not in ("0", "g"))


def _words(peers: int, compilers: list[str]) -> str:
    parts = []
    if peers:
        parts.append(f"{counted(peers, 'allocator')} with version or build-id, none a debug build")
    if compilers:
        parts.append(f"experiments by {listed(compilers)}, optimised")
    words = "; ".join(parts)
    return f"{words[0].upper()}{words[1:]}."
