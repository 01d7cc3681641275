"""How many times the live bytes of a program its memory is, under each allocator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapwise.model import Row
from heapwise.wording.numbers import show

LEAST_LIVE = 1 << 20
"""Bytes. Below, nearly all memory of a process is code, stacks and the C library's own."""


@dataclass(frozen=True)
class OverLive:
    """The peak memory of a subject, and how many times the peak of live bytes that is."""

    subject: str
    peak: str
    ratio: str


def over_live(rows: Sequence[Row], live: int | None) -> list[OverLive]:
    """rows: of the peak memory of a process. Empty if the peak of live bytes is unknown or
    small."""
    if live is None or live < LEAST_LIVE:
        return []
    return [
        OverLive(row.subject, show(row.median, row.unit), _ratio(row, live))
        for row in rows
        if row.median is not None
    ]


def _ratio(row: Row, live: int) -> str:
    """With the interval of the median."""
    assert row.median is not None
    middle = f"{row.median / live:.2f}"
    if row.ci_low is None or row.ci_high is None:
        return middle
    return f"{middle} ({row.ci_low / live:.2f} to {row.ci_high / live:.2f})"
