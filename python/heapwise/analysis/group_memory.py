"""What the kernel charged to the control groups of whole programs, allocator by allocator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from heapwise.evidence import Evidence
from heapwise.model import GroupMemory, Process, Settings, Setup

KIB = 1024
NEAR = 0.75
"""The share of the peak: a look that found less says nothing about its parts."""


@dataclass(frozen=True)
class GroupParts:
    """The parts of one subject, in bytes: medians over its processes; None if the kernel does not
    say.

    peak: by the kernel. The others are of processes that were looked at near their peak.
    """

    subject: str
    processes: int
    peak: float | None
    anonymous: float | None
    files: float | None
    kernel: float | None
    sockets: float | None
    swap: float | None


@dataclass(frozen=True)
class GroupsOfCell:
    """One cell. missing: why processes had no group of their own; empty if all had one.
    surrounding: the most that the group around them had, with other processes in it; None: none
    counts memory."""

    experiment: str
    parameters: Settings
    rows: list[GroupParts]
    missing: str
    surrounding: float | None


def group_memory(evidence: Evidence) -> list[GroupsOfCell]:
    """Cells of which a launcher said something. A control is counted with its baseline."""
    found = [_of_cell(evidence, setup, row) for setup, row in evidence.tried.items()]
    return [one for one in found if one.rows or one.missing]


def _of_cell(evidence: Evidence, setup: Setup, row: dict[str, list[Process]]) -> GroupsOfCell:
    experiment, parameters = setup
    control = evidence.controls.get(experiment)
    groups: dict[str, list[GroupMemory]] = {}
    missing: list[str] = []
    around: list[int] = []
    for subject in (name for name in evidence.subjects if name in row):
        name = evidence.baselines[experiment] if subject == control else subject
        for facts in (process.facts for process in row[subject] if process.status == "ok"):
            if facts.group_missing:
                missing.append(facts.group_missing)
            if facts.group is None:
                continue
            if facts.group.own:
                groups.setdefault(name, []).append(facts.group)
            elif facts.group.most_kib is not None:
                around.append(facts.group.most_kib)
    rows = [_parts(name, found) for name, found in groups.items()]
    return GroupsOfCell(
        experiment,
        parameters,
        rows,
        missing[0] if missing else "",
        max(around) * KIB if around else None,
    )


def _parts(subject: str, groups: list[GroupMemory]) -> GroupParts:
    near = [
        group
        for group in groups
        if (group.parts_kib or 0) >= NEAR * (group.peak_kib or group.most_kib or 0)
    ]
    return GroupParts(
        subject,
        len(groups),
        _middle(group.peak_kib for group in groups),
        _middle(group.anonymous_kib for group in near),
        _middle(group.file_kib for group in near),
        _middle(group.kernel_kib for group in near),
        _middle(group.socket_kib for group in near),
        _middle(group.swap_kib for group in near),
    )


def _middle(values: Iterable[int | None]) -> float | None:
    present = [value for value in values if value is not None]
    return median(present) * KIB if present else None
