"""From an interval and a noise floor to a word. Derived here, typed in nowhere."""

from __future__ import annotations

from typing import Literal

from heapwise.model import Better
from heapwise.stats.paired import PairedRatio

Word = Literal["better", "worse", "no difference", "cannot tell"]

EQUIVALENT = 0.02
"""An interval wholly within 2 % of 1 is called no difference; a wider noise floor widens that,"""

AT_MOST = 0.05
"""but never beyond 5 %: a campaign so noisy has not shown that there is no difference."""


def judge(ratio: PairedRatio | None, better: Better, floor: float | None) -> Word:
    """Better or worse takes two things: 1 outside the interval, and more than the noise floor.

    No difference takes an interval within 1 +- max(2 %, floor), at most 5 %. Everything else
    cannot be told yet.
    """
    if ratio is None or ratio.low is None or ratio.high is None:
        return "cannot tell"
    excludes_one = not ratio.low <= 1 <= ratio.high
    if excludes_one and max(ratio.ratio, 1 / ratio.ratio) - 1 > (floor or 0.0):
        return "better" if (ratio.ratio < 1) == (better == "lower") else "worse"
    margin = min(AT_MOST, max(EQUIVALENT, floor or 0.0))
    inside = ratio.low >= 1 / (1 + margin) and ratio.high <= 1 + margin
    return "no difference" if inside else "cannot tell"
