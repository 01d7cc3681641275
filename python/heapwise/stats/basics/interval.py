"""Two ends and what they promise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """``low`` and ``high`` in the unit of the values; None when there are too few (see note).

    confidence: what was asked for; coverage: what the ends really give, where it is known.
    """

    low: float | None
    high: float | None
    confidence: float
    coverage: float | None = None
    note: str = ""
