"""Do the runs of one program fall into two kinds, with nothing between?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEAST_RUNS = 14
LEAST_SHARE = 0.15
LEAST_GAP = 1.1
"""The kinds are at least 10 % apart."""

WIDER = 1.5
"""The gap is at least this many times as wide as either kind is, on the log scale. Of normal and
skewed runs under 1 in 1,000 series have such a gap (tests/lab/stats/test_two_clusters.py)."""


@dataclass(frozen=True)
class TwoClusters:
    """lower, upper: the median of each kind. lower_runs, upper_runs: how many runs it has."""

    lower: float
    lower_runs: int
    upper: float
    upper_runs: int


def two_clusters(values: Sequence[float]) -> TwoClusters | None:
    """values: one positive number of each run. None for one kind, or for fewer than 14 runs."""
    runs = np.sort(np.asarray(values, dtype=np.float64))
    if len(runs) < LEAST_RUNS or runs[0] <= 0:
        return None
    least = max(2, int(np.ceil(LEAST_SHARE * len(runs))))
    logs = np.log(runs)
    gaps = np.diff(logs)[least - 1 : len(runs) - least]
    at = int(np.argmax(gaps)) + least
    widest = max(logs[at - 1] - logs[0], logs[-1] - logs[at])
    if gaps.max() < max(WIDER * widest, np.log(LEAST_GAP)):
        return None
    return TwoClusters(float(np.median(runs[:at])), at, float(np.median(runs[at:])), len(runs) - at)
