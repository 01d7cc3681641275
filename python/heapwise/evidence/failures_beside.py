"""Processes that failed side by side although the program can run beside itself.

They are stored as discarded: a program that needs a lock or a port for itself fails beside itself
only, and nobody asked it to do that. But if two of any group did their work, the program can, and
a process that did not is a failure of its subject. Pairs of servers are left out: one may
fail by its load.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from heapwise.model import FAILED_BESIDE, Process, Setup, Status

if TYPE_CHECKING:
    from heapwise.evidence.evidence import Evidence

BESIDE_BASELINE = "the baseline beside it: "
"""So begins the reason of a process that did its work beside a baseline that failed."""

STATUSES: dict[str, Status] = {
    "crashed (": "crashed",
    "no end after ": "timed_out",
    "its output is not that ": "output_differs",
}
"""The beginning of a reason -> the status that it was before the process was discarded."""


def failures_beside(processes: Iterable[Process]) -> list[Process]:
    """Those that count, each with the status that it would have had alone."""
    groups: dict[tuple[Setup, int, int], list[Process]] = {}
    for process in processes:
        beside = process.facts.beside
        if beside is not None and process.facts.load is None:
            key = (process.setup, process.round, beside.baseline)
            groups.setdefault(key, []).append(process)
    able = {key[0] for key, group in groups.items() if sum(map(_worked, group)) > 1}
    return [
        _as_alone(process)
        for (setup, _, _), group in groups.items()
        if setup in able and any(map(_worked, group))
        for process in group
        if _failed(process)
    ]


def failed_beside(evidence: Evidence, setup: Setup, subjects: Iterable[str]) -> list[Process]:
    """Those of the subjects in one setup."""
    names = {*subjects}
    return [
        process
        for process in evidence.once(_failures_of)
        if process.setup == setup and process.subject in names
    ]


def ran_beside(evidence: Evidence, setup: Setup, subjects: Iterable[str]) -> int:
    """How many processes of the subjects ran beside others to their end, well or not."""
    names = {*subjects}
    return sum(
        process.setup == setup
        and process.subject in names
        and process.facts.beside is not None
        and (_worked(process) or _failed(process))
        for process in evidence.stored.processes
    )


def _failures_of(evidence: Evidence) -> list[Process]:
    return failures_beside(evidence.stored.processes)


def _worked(process: Process) -> bool:
    return process.status == "ok" or process.reason.startswith(BESIDE_BASELINE)


def _failed(process: Process) -> bool:
    return process.status == "discarded" and process.reason.startswith(FAILED_BESIDE)


def _as_alone(process: Process) -> Process:
    reason = process.reason.removeprefix(FAILED_BESIDE)
    found = (status for start, status in STATUSES.items() if reason.startswith(start))
    return replace(process, status=next(found, "failed"), reason=reason)
