"""Does the replay of a recorded program do what the program did?

A recording can miss threads and calls. The script that is made from it can lose blocks. A replay
can make other calls. The check compares the totals of the recording, of the script, and of each
process. The replay of a program does not compute between the calls. No check can correct that.
If it fails: record the program again. If it says that calls were missed, record on a machine with
fewer threads at one time, or with more memory.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.evidence.kept import timed
from heapwise.model import Check, Process, Replay
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent

ID, TITLE = "V24", "A replay is what was recorded"

MOST_UNKNOWN = 0.01
"""From this share on, freed blocks whose making was not seen change what is measured."""


def check(evidence: Evidence) -> Check:
    replay = evidence.stored.run.plan.options.replay
    if replay is None:
        return Check(ID, TITLE, "unavailable", "Does not apply: nothing was replayed.")
    played = [p for p in evidence.stored.processes if timed(p) and p.status == "ok"]
    figures = {
        "calls": replay.calls,
        "threads": replay.threads,
        "processes": len(played),
        "missed_calls": replay.missed_calls,
        "missed_threads": replay.missed_threads,
        "unknown_ends": replay.unknown_ends,
    }
    if fault := _fault(replay, played):
        return Check(ID, TITLE, "fail", fault, figures)
    if replay.calls and replay.unknown_ends / replay.calls > MOST_UNKNOWN:
        return Check(
            ID,
            TITLE,
            "warn",
            f"{percent(replay.unknown_ends / replay.calls)} of the "
            "calls free blocks that were made before the recording: they are not played.",
            figures,
        )
    if not played:
        return Check(ID, TITLE, "unavailable", "No replay ended well.", figures)
    part = (
        ""
        if replay.window is None
        else (
            f"Window {replay.window} of the run, with the {replay.prepared:,} blocks that live "
            "where it begins, but without the holes that earlier frees left between them: "
        )
    )
    return Check(
        ID,
        TITLE,
        "pass",
        f"{part}{counted(replay.calls, 'call')} of {counted(replay.threads, 'thread')}, "
        f"{replay.handed_over:,} blocks handed over: calls, blocks and bytes are those of "
        f"the trace in all {len(played)} processes, and so is the peak of live bytes"
        f"{_if_ordered(replay)}; addresses and the program's own work between the calls "
        "are not.",
        figures,
    )


def _if_ordered(replay: Replay) -> str:
    """Threads that run freely may have more or fewer bytes alive at once than the program had."""
    return "" if replay.threads == 1 else " if the calls are played in their order"


def _fault(replay: Replay, played: list[Process]) -> str:
    if replay.missed_calls or replay.missed_threads:
        return (
            f"The recording missed {counted(replay.missed_calls, 'call')} and "
            f"{counted(replay.missed_threads, 'thread')}."
        )
    if replay.window is None and replay.peak_live_bytes != replay.script_peak_live_bytes:
        return (
            f"At most {replay.peak_live_bytes:,} bytes live at once in the trace, and "
            f"{replay.script_peak_live_bytes:,} in the replay."
        )
    silent = sum(
        not any(check.id == "work" and check.ok for check in p.facts.checks or ()) for p in played
    )
    if silent:
        return f"{silent} of {len(played)} processes do not say that they made the recorded calls."
    return ""
