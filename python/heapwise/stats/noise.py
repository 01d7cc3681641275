"""How large a difference must be before this campaign can see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heapwise.stats.paired import PairedRatio, paired_ratio


@dataclass(frozen=True)
class NoiseFloor:
    """From A/A pairs: one thing under two labels. Relative figures, 0.008 means 0.8 %.

    floor: how far from 1 the ratio of a thing to itself may still lie (the farther end of the
    95 % interval). detectable: the true difference that so many pairs would find 4 times in 5;
    None with fewer than 3 pairs. biased: 1 is outside the interval, so order or labels matter.
    """

    floor: float
    detectable: float | None
    biased: bool
    pairs: int
    ratio: PairedRatio
    note: str = ""


def noise_floor(first: Sequence[float], second: Sequence[float]) -> NoiseFloor | None:
    """first, second: shape (n,), one unit; the baseline under its two labels, round by round.

    Below 6 pairs there is no 95 % interval: the extremes stand in, and the note says so.
    None below 2 pairs.
    """
    if len(first) < 2:
        return None
    found = paired_ratio(first, second)
    logs = np.log(np.asarray(first, dtype=np.float64) / np.asarray(second, dtype=np.float64))
    if found.low is None or found.high is None:
        floor = float(np.expm1(np.max(np.abs(logs))))
        note = f"{len(first)} A/A pairs: the largest deviation stands in for a 95 % interval"
        return NoiseFloor(floor, _detectable(logs), False, len(first), found, note)
    floor = max(found.high, 1 / found.low) - 1
    biased = not found.low <= 1 <= found.high
    return NoiseFloor(floor, _detectable(logs), biased, len(first), found)


def _detectable(logs: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
    """Smallest detectable difference, two-sided 5 %, power 80 %: (t.975 + t.8) s / sqrt(n).

    Source: J. M. Bland, "An Introduction to Medical Statistics", ch. 18, on the log scale.
    """
    from scipy.special import stdtrit

    n = len(logs)
    if n < 3:
        return None
    spread = float(np.std(logs, ddof=1)) / np.sqrt(n)
    return float(np.expm1((stdtrit(n - 1, 0.975) + stdtrit(n - 1, 0.8)) * spread))
