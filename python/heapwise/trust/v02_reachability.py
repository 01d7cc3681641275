"""Can malloc be replaced in this program at all? Decided before the run, repeated here.

A static, setuid or Go program, or one with an allocator of its own inside, never calls the malloc
that is preloaded. The program's file is examined before anything runs.
If it warns: --force was given, and only part of the program is measured.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import Check

ID, TITLE = "V2", "The program's malloc can be replaced"


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    found = [c for c in stored.run.preflight if c.id == ID]
    if not found:
        return Check(ID, TITLE, "unavailable", "No pre-flight was recorded for this run.")
    worst = max(found, key=lambda c: ("pass", "unavailable", "warn", "fail").index(c.verdict))
    return Check(ID, TITLE, worst.verdict, worst.detail, worst.figures)
