"""Traces: what a program allocated and freed, as `heapwise record` wrote it, in numpy arrays."""

from typing import TYPE_CHECKING

from heapwise.lazy import lazy_names

if TYPE_CHECKING:
    from heapwise.trace.columns import Events, Kind, LiveBlocks, Stack
    from heapwise.trace.file import Frame, FrameKind, Trace, open_trace
    from heapwise.trace.recording_texts import Modules, OtherProgram, Summary, TracedProcess

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

__getattr__ = lazy_names(__name__, __file__)
