"""The page of a trace: live bytes, sizes, lifetimes, call sites, and flame graphs."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.report.allocation_parts import MOST_SITES, render
from heapwise.trace import Trace
from heapwise.trace.contents import Contents
from heapwise.trace.document import ORDERS
from heapwise.trace.names.call_stacks import CallStack
from heapwise.trace.names.named_sites import NamedSite
from heapwise.wording.numbers import percent, show, size


def trace_page(
    trace: Trace, found: Contents, named: Sequence[NamedSite], stacks: Sequence[CallStack]
) -> str:
    """One file that loads nothing from the network."""
    return render(
        "trace.html",
        trace,
        stacks,
        found.live,
        found.size_buckets.tolist(),
        found.lifetimes.tolist(),
        found=found,
        sites=[_site(site) for site in named[:MOST_SITES]],
        more=max(0, len(named) - MOST_SITES),
        quantile_heads=[*(f"p{order * 100:g}" for order in ORDERS), "most"],
        quantiles=_quantile_rows(found, trace.ns_a_unit),
    )


def _site(site: NamedSite) -> dict[str, str]:
    mark = "~" if site.estimated else ""
    return {
        "name": str(site.place) if site.place else "unknown",
        "blocks": f"{mark}{site.blocks:,}",
        "bytes": f"{mark}{size(site.bytes)}",
        "peak": f"{mark}{size(site.peak_bytes)}",
        "end": f"{mark}{size(site.end_bytes)}",
        "own": percent(site.own_thread / site.ended) if site.ended else "-",
    }


def _quantile_rows(found: Contents, unit: float) -> list[tuple[str, list[str]]]:
    rows = []
    for title, spread, is_time in (
        ("Size", found.size_spread, False),
        ("Lifetime", found.lifetime_spread, True),
    ):
        for words, by_bytes in (("by blocks", False), ("by bytes", True)):
            values = [spread.quantile(order, by_bytes) for order in (*ORDERS, 1.0)]
            rows.append(
                (
                    f"{title}, {words}",
                    [
                        "-"
                        if each is None or (is_time and not unit)
                        else show(each * unit, "ns")
                        if is_time
                        else size(each)
                        for each in values
                    ],
                )
            )
    return rows
