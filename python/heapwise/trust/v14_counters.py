"""Were hardware counters there, and did they count all the time?

Counters tell why something is faster. Many virtual machines have none; time and memory are measured
without them.
If it fails: ask for fewer counters at once.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.model import Check
from heapwise.trust.words import percent

ID, TITLE = "V14", "Hardware counters"

WHOLE = 0.999


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    shares = [share for p in measured(stored)
              if (share := p.facts.counters_running_share) is not None]
    if shares and min(shares) >= WHOLE:
        return Check(ID, TITLE, "pass", "They counted during the whole of every process.",
                     {"smallest_share": min(shares)})
    if shares:
        return Check(ID, TITLE, "fail", "The kernel took turns between them: one counted during "
                     f"{percent(min(shares))} of its process only.",
                     {"smallest_share": min(shares)})
    missing = stored.run.machine.unavailable
    reason = next((why for name, why in missing.items() if "counter" in name or "perf" in name), "")
    return Check(ID, TITLE, "unavailable", f"Hardware counters are not available"
                 f"{': ' + reason if reason else ''}. Time and memory are not affected.")
