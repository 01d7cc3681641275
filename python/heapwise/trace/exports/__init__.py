"""Traces in the formats of other viewers: pprof, speedscope, and the viewer of DHAT."""

from __future__ import annotations

from collections.abc import Callable

from heapwise.trace.call_stacks import CallStack
from heapwise.trace.exports.dhat import dhat
from heapwise.trace.exports.pprof import pprof
from heapwise.trace.exports.speedscope import speedscope
from heapwise.trace.file import Trace

Export = Callable[[Trace, list[CallStack]], bytes]

EXPORTS: dict[str, Export] = {
    ".pb.gz": pprof, ".speedscope.json": speedscope, ".dhat.json": dhat,
}
"""By the end of the file's name."""

__all__ = ["EXPORTS", "Export"]
