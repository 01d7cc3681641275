"""Two traces beside each other, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from heapwise.cli.frame.tell.fitted_lines import boxed, shortened, width
from heapwise.document.aligned import fitted
from heapwise.trace.trace_difference import SiteDifference, TraceDifference
from heapwise.wording.lists import counted
from heapwise.wording.numbers import signed_count, signed_size, size


def difference_lines(found: TraceDifference, top: int) -> Iterator[str]:
    yield from boxed("Traces", f"{found.first}, then {found.second}")
    for label, before, after in _totals(found.whole):
        yield from boxed(
            label, f"{size(before)}, then {size(after)}: {signed_size(after - before)}"
        )
    if not found.sites:
        yield from boxed("Sites", "each call site asked for as much as before")
        return
    lines = [["Bytes", "blocks", "at the peak", "at the end", "call site"]]
    for site in found.sites[:top]:
        grown, mark = site.grown, "~" if site.estimated else ""
        lines.append(
            [
                f"{mark}{signed_size(grown.bytes)}",
                f"{mark}{signed_count(grown.blocks)}",
                signed_size(grown.peak_bytes),
                signed_size(grown.end_bytes),
                "",
            ]
        )
    yield ""
    head, *rows = fitted(lines).splitlines()
    left = head.index("call site")
    yield head
    for row, site in zip(rows, found.sites, strict=False):
        note = _note(site)
        room = max(24, width() - left) - len(note)
        yield row.ljust(left) + shortened(site.name, room) + note
    yield ""
    yield from boxed("Columns", "the second trace less the first; + is more")
    if len(found.sites) > top:
        yield from boxed("More", f"{counted(len(found.sites) - top, 'call site')}: --top 1000")


def _totals(whole: SiteDifference) -> Iterator[tuple[str, int, int]]:
    yield "Asked for", whole.first.bytes, whole.second.bytes
    yield "Peak", whole.first.peak_bytes, whole.second.peak_bytes
    yield "End", whole.first.end_bytes, whole.second.end_bytes


def _note(site: SiteDifference) -> str:
    if not site.first.blocks:
        return ", new"
    return "" if site.second.blocks else ", gone"
