"""The traces of one recording that followed the children of a program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.errors import Problem
from heapwise.trace.recording_texts import Summary, TracedProcess

if TYPE_CHECKING:
    from heapwise.trace.file import Trace


@dataclass(frozen=True)
class Sibling:
    """The trace of one process. events, bytes: 0 if the trace was cut off. bytes: of all blocks
    together. samples: of a profile, how many blocks were sampled. end_bytes: those that the process
    had not freed when it ended."""

    path: Path
    process: TracedProcess
    command: list[str]
    events: int
    bytes: int = 0
    samples: int | None = None
    end_bytes: int = 0


def siblings(trace: Trace) -> list[Sibling]:
    """All processes of the recording whose traces lie in the same folder, the first process first,
    the others by their numbers. Only the trace's own process if no others were followed."""
    from heapwise.trace.file import open_trace

    recording = trace.about.get("recording")
    found = [own] if (own := _sibling(trace)) else []
    if not recording:
        return found
    for path in sorted(trace.path.parent.glob("*.hwt")):
        if path.name == trace.path.name:
            continue
        try:
            with open_trace(path) as other:
                if other.about.get("recording") == recording and (each := _sibling(other)):
                    found.append(each)
        except Problem:
            continue  # what cannot be read says nothing of its recording
    return sorted(found, key=lambda each: (not each.process.first, each.process.pid))


def _sibling(trace: Trace) -> Sibling | None:
    process = trace.process
    if process is None:
        return None
    summary = trace.summary or Summary()
    return Sibling(
        trace.path,
        process,
        trace.command,
        summary.events,
        summary.bytes,
        summary.blocks if trace.sample_every else None,
        0 if trace.sample_every else summary.end_live_bytes,
    )
