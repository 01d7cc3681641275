"""What the blocks of a candidate look like, in words."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.trace.contents import SiteContents, median_bucket
from heapwise.wording.numbers import percent, show, size


def looks(sites: Sequence[SiteContents], order: str, ns_a_unit: float) -> str:
    """Such as "100,000 blocks of 48 B, 4.8 MB in all; half of them live for less than 2.1 µs; they
    end in any order, 100 % on the thread that made them"."""
    ended = sum(site.ended for site in sites)
    found = (
        f"{sum(site.count for site in sites):,} blocks of {_sizes(sites)}, "
        f"{size(sum(site.bytes for site in sites))} in all"
    )
    bucket = median_bucket(sum((site.lifetimes for site in sites[1:]), sites[0].lifetimes))
    if bucket is not None and ns_a_unit:
        found += f"; half of them live for less than {show(2.0**bucket * ns_a_unit, 'ns')}"
    if order and ended:
        own = sum(site.own_thread for site in sites) / ended
        found += f"; they end {order}, {percent(own)} on the thread that made them"
    return found


def _sizes(sites: Sequence[SiteContents]) -> str:
    smallest, largest = min(site.smallest for site in sites), max(site.largest for site in sites)
    return size(largest) if smallest == largest else f"{size(smallest)} to {size(largest)}"
