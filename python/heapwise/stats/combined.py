"""One ratio over many rows, with an interval that the rows' own scatter gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heapwise.stats.geometric import geometric_mean
from heapwise.stats.paired import CONFIDENCE, paired_ratio

Pair = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class CombinedRatio:
    """ratio: geometric mean of the rows' ratios, no unit. low, high: None without an interval."""

    ratio: float
    low: float | None
    high: float | None
    rows: int
    note: str = ""


def combined_ratio(rows: Mapping[str, Pair], confidence: float = CONFIDENCE) -> CombinedRatio:
    """Geometric mean of the Hodges-Lehmann ratios of the rows, each from its own pairs.

    rows: name -> (above, below), shape (n,) each, positive, one unit within a row. The interval is
    that of a mean of independent means on the log scale: the variances of the rows' mean log ratios
    add up, with Satterthwaite's degrees of freedom. It answers for the noise of these rows, and not
    for rows that nobody measured. A row of a single pair leaves no interval.
    Raises ValueError for no row, unequal lengths, no pair, or numbers that are not positive.
    Source: F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
    Biometrics Bulletin 2 (1946) 110-114; B. L. Welch, Biometrika 34 (1947) 28-35.
    """
    from scipy.special import stdtrit

    centre = geometric_mean({name: paired_ratio(*pair).ratio for name, pair in rows.items()})
    logs = [np.log(np.asarray(a, dtype=np.float64) / np.asarray(b, dtype=np.float64))
            for a, b in rows.values()]
    least = min(len(row) for row in logs)
    if least < 2:
        return CombinedRatio(centre, None, None, len(rows), "a row has one pair: no interval")
    parts = np.array([float(np.var(row, ddof=1)) / len(row) for row in logs])
    freedom = np.array([len(row) - 1 for row in logs])
    total = float(parts.sum())
    if total == 0:
        return CombinedRatio(centre, centre, centre, len(rows))
    degrees = total**2 / float((parts**2 / freedom).sum())
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * float(np.sqrt(total)) / len(rows)
    return CombinedRatio(centre, centre * float(np.exp(-half)), centre * float(np.exp(half)),
                         len(rows))
