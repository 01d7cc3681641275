"""Where the middle of one subject's rounds lies, with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heapwise.stats.basics.interval import Interval
from heapwise.stats.basics.quantiles import median_interval, values_needed
from heapwise.stats.basics.student import LEAST, mean_interval


def location_interval(
    rounds: Sequence[float], confidence: float = 0.95, step: float = 0.0
) -> Interval:
    """rounds: shape (n,), one number for each round, any unit. step: the relative distance of
    neighbouring numbers, by half of which the interval grows at both ends.

    From 6 rounds on the exact interval of the median (``median_interval``). 3 to 5 rounds:
    Student's t interval, of the logarithms if all numbers are above zero; a number that is never
    negative has no interval below zero. Fewer: no ends, and a note.
    """
    found = _unblurred(rounds, confidence)
    if found.low is None or found.high is None or step == 0:
        return found
    return replace(found, low=found.low / (1 + step / 2), high=found.high * (1 + step / 2))


def _unblurred(rounds: Sequence[float], confidence: float) -> Interval:
    if len(rounds) >= values_needed(0.5, confidence):
        return median_interval(rounds, confidence)
    positive = min(rounds, default=0.0) > 0
    found = mean_interval(np.log(rounds).tolist() if positive else list(rounds), confidence)
    if found is None:
        note = f"{len(rounds)} of the {LEAST} rounds that an interval needs"
        return Interval(None, None, confidence, None, note)
    low, high = (float(np.exp(end)) if positive else end for end in (found.low, found.high))
    return Interval(max(low, 0.0) if min(rounds) >= 0 else low, high, confidence)
