"""The figures of call sites if the trace holds windows of the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from heapwise.trace import open_trace
from heapwise.trace.contents import read_contents

Record = Callable[..., Path]


def test_live_bytes_of_sites_sum_to_those_of_the_trace(known: Path, record: Record) -> None:
    with open_trace(record(known, "mixed", "1500000", most_bytes=1 << 20)) as opened:
        assert opened.summary is not None
        assert opened.summary.kept_events < opened.summary.events
        found = read_contents(opened)
        peak = opened.summary.peak_live_bytes
    assert sum(site.live_bytes for site in found.sites.values()) == found.live[-1][1]
    assert all(0 <= site.live_bytes <= site.peak_bytes <= peak for site in found.sites.values())
