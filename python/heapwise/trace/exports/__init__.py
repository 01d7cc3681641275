"""Traces in the formats of other viewers: pprof, speedscope, the viewer of DHAT, flame graphs."""

from __future__ import annotations

from collections.abc import Callable

from heapwise.trace.exports.dhat import dhat
from heapwise.trace.exports.folded import folded, folded_calls, folded_end, folded_peak
from heapwise.trace.exports.pprof import pprof
from heapwise.trace.exports.speedscope import speedscope
from heapwise.trace.file import Trace
from heapwise.trace.names.call_stacks import CallStack

Export = Callable[[Trace, list[CallStack]], bytes]

EXPORTS: dict[str, Export] = {
    ".pb.gz": pprof,
    ".speedscope.json": speedscope,
    ".dhat.json": dhat,
    ".folded": folded,
    ".calls.folded": folded_calls,
    ".peak.folded": folded_peak,
    ".end.folded": folded_end,
}
"""By the end of the file's name; the longest that fits."""

__all__ = ["EXPORTS", "Export"]
