"""The page of a trace: live bytes, sizes, lifetimes, call sites, and flame graphs."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.document import Notice
from heapwise.report.allocation_parts import (
    MEASURES,
    MOST_SITES,
    AllocationPage,
    bars,
    call_tree,
    live_figure,
)
from heapwise.study.recording.tell import command_of
from heapwise.study.recording.trace_tables import trace_entries, trace_tables
from heapwise.trace import Trace
from heapwise.trace.contents import Contents
from heapwise.trace.names.call_stacks import CallStack
from heapwise.trace.names.named_sites import NamedSite
from heapwise.wording.numbers import size

NOTE = (
    "The width of a box is the share of what was allocated below it. The blocks and bytes of each "
    "call site are exact; they are shared out over the stacks that were sampled of it."
)


def trace_page(
    trace: Trace, found: Contents, named: Sequence[NamedSite], stacks: Sequence[CallStack]
) -> str:
    """One file that loads nothing from the network."""
    summary = trace.summary
    peak = f", at most {size(summary.peak_live_bytes)} live at once" if summary else ""
    return AllocationPage(
        title=f"trace of {command_of(trace)}",
        what="trace",
        answer=f"{found.blocks:,} blocks, {size(found.bytes)} asked for{peak}",
        note=NOTE,
        measures=MEASURES,
        above=[
            Notice(command_of(trace)),
            *trace_entries(trace, found),
            *live_figure(trace, found.live),
        ],
        tables=[
            *trace_tables(trace, found, named, MOST_SITES),
            *bars(trace, found.size_buckets.tolist(), found.lifetimes.tolist()),
        ],
        tree=call_tree(stacks),
    ).render()
