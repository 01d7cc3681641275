"""From an interval and a noise floor to a word. Derived here, typed in nowhere."""

from __future__ import annotations

from typing import Literal

from heapwise.model import Better
from heapwise.stats.paired import PairedRatio

Word = Literal["better", "worse", "no difference", "cannot tell"]

EQUIVALENT = 0.02
"""An interval wholly within 2 % of 1 is called no difference, unless the noise floor is wider."""


def judge(ratio: PairedRatio | None, better: Better, floor: float | None) -> Word:
    """Better or worse takes two things: 1 outside the interval, and more than the noise floor.

    No difference takes an interval inside 1 +- max(floor, 2 %), or an effect below the floor.
    Everything else cannot be told yet.
    """
    if ratio is None or ratio.low is None or ratio.high is None:
        return "cannot tell"
    margin = max(EQUIVALENT, floor or 0.0)
    inside = ratio.low >= 1 / (1 + margin) and ratio.high <= 1 + margin
    if ratio.low <= 1 <= ratio.high:
        return "no difference" if inside else "cannot tell"
    if max(ratio.ratio, 1 / ratio.ratio) - 1 <= (floor or 0.0):
        return "no difference"
    return "better" if (ratio.ratio < 1) == (better == "lower") else "worse"
