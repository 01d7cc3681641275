"""A heap profile of another tool as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from heapwise.cli.frame.tell.fitted_lines import boxed, shortened, width
from heapwise.document.aligned import fitted
from heapwise.trace.heap_profile import LACKS, HeapProfile, heap_sites
from heapwise.trace.names.wrappers import Wrappers
from heapwise.wording.lists import counted
from heapwise.wording.numbers import count, percent, size

ORDER = ("inuse_space", "space", "peak_space", "alloc_space")
"""The table is by the first of these that is carried and not 0."""


def heap_profile_lines(profile: HeapProfile, wrappers: Wrappers, top: int) -> Iterator[str]:
    """Totals, what the file does not carry, and the call sites with most bytes."""
    yield from boxed(
        "Profile",
        f"{profile.path}: heap profile of {profile.tool}, {counted(len(profile.stacks), 'stack')}",
    )
    totals = profile.totals()
    for (name, unit), total in zip(profile.kinds, totals, strict=True):
        yield from boxed("Total", f"{size(total) if unit == 'bytes' else count(total)} {name}")
    yield from boxed("Lacks", LACKS)
    by = _leading(profile, totals)
    partner = profile.column(profile.kinds[by][0].replace("space", "objects"))
    if partner == by:
        partner = None
    lines = [[profile.kinds[by][0], "share", "blocks", "mean size", "call site"]]
    sites = sorted(
        (site for site in heap_sites(profile, wrappers) if site[1][by]),
        key=lambda site: -site[1][by],
    )
    for _, values in sites[:top]:
        blocks = values[partner] if partner is not None else 0
        lines.append(
            [
                size(values[by]),
                percent(values[by] / totals[by]) if totals[by] else "-",
                count(blocks) if blocks else "-",
                size(values[by] / blocks) if blocks else "-",
                "",
            ]
        )
    yield ""
    head, *rows = fitted(lines).splitlines()
    left = head.index("call site")
    yield head
    for row, (place, _) in zip(rows, sites, strict=False):
        yield row.ljust(left) + shortened(
            str(place) if place else "unknown", max(24, width() - left)
        )
    if len(sites) > top:
        yield f"and {len(sites) - top} more: heapwise trace {profile.path} --top 1000"


def _leading(profile: HeapProfile, totals: list[int]) -> int:
    named = [column for name in ORDER if (column := profile.column(name)) is not None]
    of_bytes = [place for place, (_, unit) in enumerate(profile.kinds) if unit == "bytes"]
    choices = [*named, *of_bytes]
    return next((column for column in choices if totals[column]), choices[0])
