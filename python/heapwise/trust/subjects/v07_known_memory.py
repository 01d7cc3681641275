"""Does the peak memory belong to the child, and is it possible?

The kernel's high-water mark of a child can begin at the mark of the process that started it. So a
small launcher starts each process, and the check compares the figure with the launcher's own size.
If it fails: do not use the column of memory.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.model import Check
from heapwise.wording.lists import counted, listed

ID, TITLE = "V7", "Peak memory is the program's own"

LAUNCHER_LIMIT_BYTES = 16 * 2**20
"""The launcher is a C++ program of a few MiB; a fat parent's peak would be the child's start."""

LEAST_BYTES = 64 * 2**10
"""No Linux process with a libc has less than this resident."""


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    taken = [
        (p, peak, p.facts.launcher_rss_bytes)
        for p in measured(stored)
        if (peak := p.facts.peak_rss_bytes) is not None
    ]
    if not taken:
        return Check(ID, TITLE, "unavailable", "No process recorded its peak memory.")
    memory = stored.run.machine.memory_bytes
    impossible = [
        p.subject for p, peak, _ in taken if peak < LEAST_BYTES or (memory and peak > memory)
    ]
    launchers = [own for _, _, own in taken if own is not None]
    figures = {
        "processes": len(taken),
        "smallest_peak_bytes": min(peak for _, peak, _ in taken),
        "largest_launcher_bytes": max(launchers) if launchers else None,
    }
    if impossible:
        return Check(
            ID,
            TITLE,
            "fail",
            f"{counted(len(impossible), 'peak')} cannot be: less than "
            f"any process has, or more than the machine ({listed(impossible)}).",
            figures,
        )
    if not launchers:
        return Check(
            ID, TITLE, "unavailable", "The launcher's own memory was not recorded.", figures
        )
    if max(launchers) > LAUNCHER_LIMIT_BYTES:
        return Check(
            ID,
            TITLE,
            "fail",
            f"The launcher had {max(launchers) / 2**20:.0f} MiB "
            "itself, which a child's peak may have inherited.",
            figures,
        )
    if max(launchers) >= min(peak for _, peak, _ in taken):
        return Check(
            ID,
            TITLE,
            "warn",
            "The smallest peak is no larger than the launcher's own "
            "memory: it may be the launcher's.",
            figures,
        )
    return Check(
        ID,
        TITLE,
        "pass",
        "High-water marks read from the kernel for each child; the "
        f"launcher itself had {max(launchers) / 2**20:.1f} MiB.",
        figures,
    )
