"""Does the replay of a recorded program do what the program did?

A replay can lose timing, threads, addresses and the order of lifetimes. It must say how much of the
record it covers.
If it is unavailable: nothing was replayed.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import Check

ID, TITLE = "V24", "A replay is what was recorded"


def check(evidence: Evidence) -> Check:
    return Check(ID, TITLE, "unavailable", "Does not apply: nothing was replayed.")
