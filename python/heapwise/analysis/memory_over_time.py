"""The memory of whole programs over the time of a process, allocator by allocator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heapwise.evidence import Evidence
from heapwise.model import MemoryCurve, Process, Settings, Setup
from heapwise.stats.basics.arrays import Floats
from heapwise.stats.series.growth import Growth, growth

KIB = 1024
PLACES = 160
"""The places of a band, at equal distances from the start to the end of the longest process."""

FEWEST = 5
"""Moments: with fewer a process has no curve."""

LEAST_S = 20.0
"""A second half that is shorter says nothing about hours."""


@dataclass(frozen=True)
class Band:
    """The memory of one subject: the middle and both ends of its processes at the same time since
    their start, as long as more than half of them were there.

    seconds, low, middle, high: of equal length; bytes. growth: of the second half of each process;
    None if that is too short. lazy_free: bytes at the end that the kernel may take back at any time
    (MADV_FREE) and that count as resident until then.
    """

    subject: str
    processes: int
    seconds: list[float]
    low: list[float]
    middle: list[float]
    high: list[float]
    growth: Growth | None
    lazy_free: float


@dataclass(frozen=True)
class MemoryOverTime:
    """One cell. unread: the most processes of a tree at once that could not be looked at. left_out:
    subjects whose processes were too short for a curve."""

    experiment: str
    parameters: Settings
    bands: list[Band]
    unread: int
    left_out: list[str]


def memory_over_time(evidence: Evidence) -> list[MemoryOverTime]:
    """Cells with at least one curve. A control is drawn with the baseline, whose processes are the
    same."""
    found = [_of_cell(evidence, setup, row) for setup, row in evidence.tried.items()]
    return [one for one in found if one.bands]


def _of_cell(evidence: Evidence, setup: Setup, row: dict[str, list[Process]]) -> MemoryOverTime:
    experiment, parameters = setup
    control = evidence.controls.get(experiment)
    curves: dict[str, list[MemoryCurve]] = {}
    for subject in (name for name in evidence.subjects if name in row):
        name = evidence.baselines[experiment] if subject == control else subject
        found = [p.facts.memory for p in row[subject] if p.status == "ok" and p.facts.memory]
        curves.setdefault(name, []).extend(curve for curve in found if len(curve.at_ms) >= FEWEST)
    every = [curve for found in curves.values() for curve in found]
    unread = max((max(curve.unread, default=0) for curve in every), default=0)
    longest = max((curve.at_ms[-1] for curve in every), default=0)
    seconds = np.linspace(0, longest / 1000, PLACES)
    bands = [_band(name, found, seconds) for name, found in curves.items() if found]
    return MemoryOverTime(
        experiment, parameters, bands, unread, [name for name, found in curves.items() if not found]
    )


def _band(subject: str, curves: list[MemoryCurve], seconds: Floats) -> Band:
    at = np.array([_on(seconds, curve) for curve in curves])
    present = np.sum(~np.isnan(at), axis=0) * 2 > len(curves)
    inside = at[:, present] * KIB
    return Band(
        subject,
        len(curves),
        seconds[present].tolist(),
        np.nanmin(inside, axis=0).tolist(),
        np.nanmedian(inside, axis=0).tolist(),
        np.nanmax(inside, axis=0).tolist(),
        growth_of(curves),
        float(np.median([sum(curve.lazy_free_kib[-1:]) * KIB for curve in curves])),
    )


def _on(seconds: Floats, curve: MemoryCurve) -> Floats:
    """KiB on straight lines between the moments; NaN before the first and after the last."""
    at = np.array(curve.at_ms) / 1000
    return np.interp(
        seconds, at, np.array(curve.proportional_kib, dtype=np.float64), left=np.nan, right=np.nan
    )


def growth_of(curves: list[MemoryCurve]) -> Growth | None:
    """Bytes per hour, of the second half of the time; None if that is too short."""
    halves = []
    for curve in curves:
        half_ms = curve.at_ms[-1] / 2
        if half_ms < LEAST_S * 1000:
            continue
        moments = [
            (ms / 1000, kib * KIB)
            for ms, kib in zip(curve.at_ms, curve.proportional_kib, strict=True)
            if ms >= half_ms
        ]
        halves.append(([at for at, _ in moments], [value for _, value in moments]))
    return growth(halves) if halves else None
