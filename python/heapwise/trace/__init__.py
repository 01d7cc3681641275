"""Traces: what a program allocated and freed, as `heapwise record` wrote it, in numpy arrays."""

from heapwise.trace.columns import Events, Kind, LiveBlocks, Stack
from heapwise.trace.file import (
    Frame,
    FrameKind,
    Modules,
    OtherProgram,
    Summary,
    Trace,
    TracedProcess,
    open_trace,
)

__all__ = [
    "Events",
    "Frame",
    "FrameKind",
    "Kind",
    "LiveBlocks",
    "Modules",
    "OtherProgram",
    "Stack",
    "Summary",
    "Trace",
    "TracedProcess",
    "open_trace",
]
