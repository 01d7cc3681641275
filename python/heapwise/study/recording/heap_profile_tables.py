"""A heap profile of another tool: totals, what it lacks, and call sites."""

from __future__ import annotations

from heapwise.document import Labelled, Passage
from heapwise.study.recording.tell import Site, more_sites, site_table
from heapwise.trace.heap_profile import LACKS, HeapProfile, heap_sites
from heapwise.trace.names.wrappers import Wrappers
from heapwise.wording.lists import counted
from heapwise.wording.numbers import count, percent, size

ORDER = ("inuse_space", "space", "peak_space", "alloc_space")
"""The table is by the first of these that is carried and not 0. Of a difference, what grew or
shrank most is first."""


def heap_profile_passages(profile: HeapProfile, wrappers: Wrappers, top: int) -> list[Passage]:
    """Totals, what the file does not carry, and the call sites with most bytes."""
    stacks = counted(len(profile.stacks), "stack")
    totals = profile.totals()
    by = _leading(profile, totals)
    name = profile.kinds[by][0]
    partner = profile.column(name.replace("space", "objects"))
    rows: list[Site] = []
    found = [site for site in heap_sites(profile, wrappers) if site[1][by]]
    for place, values in sorted(found, key=lambda site: -abs(site[1][by]))[:top]:
        blocks = values[partner] if partner not in (None, by) else 0
        figures = [
            size(values[by]),
            percent(values[by] / totals[by]) if totals[by] else "-",
            count(blocks) if blocks else "-",
            size(values[by] / blocks) if blocks else "-",
        ]
        rows.append((str(place) if place else "unknown", figures, []))
    return [
        Labelled("Profile", f"{profile.name}: heap profile of {profile.tool}, {stacks}"),
        *(
            Labelled("Total", f"{size(total) if unit == 'bytes' else count(total)} {kind}")
            for (kind, unit), total in zip(profile.kinds, totals, strict=True)
        ),
        Labelled("Lacks", LACKS),
        *site_table("Call sites", [name, "share", "blocks", "mean size"], rows),
        more_sites(top, len(found), f"heapwise trace {profile.words}"),
    ]


def _leading(profile: HeapProfile, totals: list[int]) -> int:
    named = [column for name in ORDER if (column := profile.column(name)) is not None]
    of_bytes = [place for place, (_, unit) in enumerate(profile.kinds) if unit == "bytes"]
    choices = [*named, *of_bytes]
    return next((column for column in choices if totals[column]), choices[0])
