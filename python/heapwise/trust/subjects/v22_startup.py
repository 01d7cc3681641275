"""Is more measured than the start of a process?

Starting a program and loading an allocator takes milliseconds, and differs between allocators.
Heapwise times an empty program under each allocator. A measured process should last at least 20
times as long.
If it warns: give the program more work, or read the figures as those of its start.
"""

from __future__ import annotations

import numpy as np

from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.model import Check
from heapwise.trust.applies import Applies, programs
from heapwise.wording.lists import listed

ID, TITLE = "V22", "More than the start was measured"

STARTS_NEEDED = 20


def _of_programs(evidence: Evidence) -> Check:
    stored = evidence.stored
    starts = {p.subject: p.facts.startup_s for p in stored.processes if p.facts.startup_s}
    taken: dict[str, list[float]] = {}
    for process in measured(stored):
        if process.subject in starts and process.facts.wall_s:
            taken.setdefault(process.subject, []).append(process.facts.wall_s)
    times = {name: float(np.median(walls)) for name, walls in taken.items()}
    figures = {"startup_s": starts, "median_s": times}
    if not times:
        return Check(ID, TITLE, "unavailable", "No empty program was timed.", figures)
    short = {
        name: wall / starts[name]
        for name, wall in times.items()
        if wall < STARTS_NEEDED * starts[name]
    }
    span = " to ".join(
        dict.fromkeys(f"{s * 1000:.1f}" for s in (min(starts.values()), max(starts.values())))
    )
    if short:
        words = listed(f"{name} {factor:.1f} times" for name, factor in short.items())
        return Check(
            ID,
            TITLE,
            "warn",
            f"A process lasts less than {STARTS_NEEDED} times as long "
            f"as an empty program, which takes {span} ms: {words}. Much of what was "
            "measured is the start.",
            figures,
        )
    least = min(wall / starts[name] for name, wall in times.items())
    return Check(
        ID,
        TITLE,
        "pass",
        f"An empty program takes {span} ms; the processes last at "
        f"least {least:,.0f} times as long.",
        figures,
    )


check = Applies(
    ID,
    TITLE,
    programs,
    _of_programs,
    others="Does not apply: the experiments time regions inside their processes.",
)
