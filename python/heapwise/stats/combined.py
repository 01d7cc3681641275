"""One ratio over many rows, with an interval that follows from the rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heapwise.stats.geometric import geometric_mean
from heapwise.stats.paired import CONFIDENCE, ratio_of_logs
from heapwise.stats.student import LEAST


@dataclass(frozen=True)
class CombinedRatio:
    """ratio: geometric mean of the rows' ratios, no unit. low, high: None without an interval."""

    ratio: float
    low: float | None
    high: float | None
    rows: int
    note: str = ""


def combined_ratio(
    rows: Mapping[str, Mapping[int, float]], factor: float = 1.0, confidence: float = CONFIDENCE
) -> CombinedRatio:
    """Geometric mean of the ratios of all rows.

    rows: name -> round -> ratio, positive, no unit. The log ratios of a round are averaged over the
    rows first; the estimate and its interval are those of ``paired_ratio`` over these averages. So
    the rows may depend on each other, as two quantities of one process do; only the rounds have to
    be independent. factor: how much wider the interval is if they are not. The interval answers for
    the noise of these rows, not for rows that nobody measured. With fewer than 3 rounds in which
    every row was measured there is no interval.
    Raises ValueError for no row, a row without a round, or a ratio that is not positive.
    """
    if not rows or not all(rows.values()):
        raise ValueError("a mean over rows needs a row, and each row a round")
    if any(not ratio > 0 for row in rows.values() for ratio in row.values()):
        raise ValueError("a geometric mean needs ratios above zero")
    shared = sorted(set.intersection(*(set(row) for row in rows.values())))
    if len(shared) < LEAST:
        centre = geometric_mean({name: float(np.exp(np.mean(np.log(list(row.values())))))
                                 for name, row in rows.items()})
        note = f"every row was measured in {len(shared)} rounds; an interval needs {LEAST}"
        return CombinedRatio(centre, None, None, len(rows), note)
    logs = np.log(np.array([[row[number] for number in shared] for row in rows.values()]))
    found = ratio_of_logs(logs.mean(axis=0), confidence).widened(factor)
    return CombinedRatio(found.ratio, found.low, found.high, len(rows))
