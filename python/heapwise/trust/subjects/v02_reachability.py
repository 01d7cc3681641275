"""Can malloc be replaced in this program, and in the programs that it starts?

A static, setuid or Go program, or a program with an allocator of its own, never calls the malloc
that is preloaded. Heapwise examines the program's file before anything runs. With --force it
measures all the same. Then the check fails if no library can be loaded, and warns if some calls of
malloc can still reach one. The check names programs that were started without the library: they
lost LD_PRELOAD, or cannot be preloaded.
If it warns: only part of the program is measured. Measure the named program itself, or start it
with its environment.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.identity import lost_programs
from heapwise.evidence.kept import timed
from heapwise.model import Check
from heapwise.wording.lists import counted, listed

ID, TITLE = "V2", "The program's malloc can be replaced"

WHY = {
    "dropped": "LD_PRELOAD was taken out of its environment",
    "changed": "LD_PRELOAD was changed in its environment",
    "silent": "the probe did not know where to report",
    "kept": "static, setuid, or not a program for this loader",
}


def check(evidence: Evidence) -> Check:
    found = [c for c in evidence.stored.run.preflight if c.id == ID]
    if not found:
        return Check(ID, TITLE, "unavailable", "No pre-flight was recorded for this run.")
    worst = max(found, key=lambda c: ("pass", "unavailable", "warn", "fail").index(c.verdict))
    lost = lost_programs(p for p in evidence.stored.processes if timed(p))
    if not lost or worst.verdict == "fail":
        return Check(ID, TITLE, worst.verdict, worst.detail, worst.figures)
    words = listed(
        f"{target} ({WHY.get(fate, fate)}; {counted(times, 'time')})"
        for (target, fate), times in lost.items()
    )
    forced = f"{worst.detail} " if worst.verdict == "warn" else ""
    return Check(
        ID,
        TITLE,
        "warn",
        f"{forced}Partial: what the program starts is not measured with the allocators: {words}.",
        worst.figures
        | {
            "lost": [
                {"target": target, "preload": fate, "times": times}
                for (target, fate), times in lost.items()
            ]
        },
    )
