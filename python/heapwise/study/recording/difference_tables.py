"""Two traces beside each other: what changed in all, and by which call sites."""

from __future__ import annotations

from heapwise.document import Labelled, Notice, Passage, Sentence, plain_table
from heapwise.study.recording.tell import Site, more_sites, site_table
from heapwise.trace.trace_difference import SiteDifference, TraceDifference
from heapwise.wording.numbers import signed_count, signed_size, size

SUMS = {"Asked for": "bytes", "Live at the peak": "peak_bytes", "Live at the end": "end_bytes"}

COLUMNS = (
    "The second trace less the first; + is more. A function is one call site. ~ marks shares of a "
    "wrapper with several callers."
)


def answer(found: TraceDifference) -> str:
    """One sentence: the change of all bytes, and the call site with most of it."""
    if not found.sites:
        return "Each call site asked for as much as before"
    whole, most = found.whole.grown, found.sites[0]
    words = f"{signed_size(whole.bytes)} asked for"
    if not whole.bytes:
        words = "As many bytes were asked for, from other call sites"
    return f"{words}; most of it by {most.name}: {signed_size(most.grown.bytes)}"


def difference_passages(found: TraceDifference, top: int) -> list[Passage]:
    one, other, grown = found.whole.first, found.whole.second, found.whole.grown
    rows = [["Blocks", f"{one.blocks:,}", f"{other.blocks:,}", signed_count(grown.blocks)]]
    for title, name in SUMS.items():
        before, after = size(getattr(one, name)), size(getattr(other, name))
        rows.append([title, before, after, signed_size(getattr(grown, name))])
    passages: list[Passage] = [
        Sentence(f"{found.first}, then {found.second}."),
        plain_table([["", "before", "after", "difference"], *rows]),
    ]
    if not found.sites:
        passages.append(Labelled("Sites", "each call site asked for as much as before"))
    else:
        heads = ["bytes", "blocks", "at the peak", "at the end"]
        sites: list[Site] = [(_name(site), _figures(site), []) for site in found.sites[:top]]
        passages += [*site_table("Call sites that differ", heads, sites), Notice(COLUMNS)]
    return [*passages, more_sites(top, len(found.sites), "heapwise trace")]


def _name(site: SiteDifference) -> str:
    if not site.first.blocks:
        return f"{site.name}, new"
    return site.name if site.second.blocks else f"{site.name}, gone"


def _figures(site: SiteDifference) -> list[str]:
    grown, mark = site.grown, "~" if site.estimated else ""
    return [
        f"{mark}{signed_size(grown.bytes)}",
        f"{mark}{signed_count(grown.blocks)}",
        signed_size(grown.peak_bytes),
        signed_size(grown.end_bytes),
    ]
