"""Can malloc be replaced in this program at all? Decided before the run, repeated here."""

from __future__ import annotations

from heapwise.model import Check
from heapwise.store import StoredRun

ID, TITLE = "V2", "The program's malloc can be replaced"


def check(stored: StoredRun) -> Check:
    found = [c for c in stored.run.preflight if c.id == ID]
    if not found:
        return Check(ID, TITLE, "unavailable", "No pre-flight was recorded for this run.")
    worst = max(found, key=lambda c: ("pass", "unavailable", "warn", "fail").index(c.verdict))
    return Check(ID, TITLE, worst.verdict, worst.detail, worst.figures)
