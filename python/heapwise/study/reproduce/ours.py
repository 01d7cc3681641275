"""A figure that stands beside a published one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ours:
    """Our figure in the report's unit; None with the reason in ``note``. low, high: 95 %, or the
    least and the largest of the runs of the author's program."""

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
