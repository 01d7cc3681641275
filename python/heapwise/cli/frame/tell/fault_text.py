"""A report of a fault as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from heapwise.trace.fault_reports import FaultReport, named_calls

KINDS = {
    "foreign": "an address that is not the heap's was freed",
    "misaligned": "an address that no block begins at was freed",
    "inside-block": "an address inside a block was freed",
    "double-free": "a block was freed that was free",
    "no-block": "an address was freed at which there is no block",
    "wrong-size": "a block was freed with a size that is not its own",
    "overrun": "a block was written behind its end",
    "written-after-free": "a block was written after it was freed",
    "use-after-free": "a block was touched after it was freed",
    "out-of-bounds": "memory beside a block was touched",
}
"""What the program did."""


def fault_lines(report: FaultReport) -> Iterator[str]:
    yield f"{report.kind}  {KINDS.get(report.kind, 'a fault of the heap')}"
    block = f", block {report.block} of {report.bytes} bytes" if report.block else ""
    yield f"  address {report.address}{block}, thread {report.found.thread}"
    calls = list(named_calls(report))
    for named in calls:
        for at, frames in enumerate(named.places):
            words = ", inlined in ".join(map(str, frames))
            yield f"  {'' if at else named.event:9}  {words}"
    if not calls:
        yield "  The report does not name the files of its addresses, so they have no names."
