"""Traces: what a program allocated and freed, as `heapwise record` wrote it, in numpy arrays."""

from heapwise.trace.columns import Events, Kind, LiveBlocks, Stack
from heapwise.trace.file import Frame, FrameKind, Process, Summary, Trace, open_trace

__all__ = [
    "Events", "Frame", "FrameKind", "Kind", "LiveBlocks", "Process", "Stack", "Summary", "Trace",
    "open_trace",
]
