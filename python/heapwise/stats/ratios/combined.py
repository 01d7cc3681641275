"""One ratio over many rows, with an interval that follows from the rounds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from heapwise.stats.basics.geometric import geometric_mean
from heapwise.stats.basics.student import LEAST
from heapwise.stats.ratios.paired import CONFIDENCE, PairedRatio, ratio_of_logs


def combined_ratio(
    rows: Mapping[str, Mapping[int, float]], confidence: float = CONFIDENCE
) -> PairedRatio:
    """Geometric mean of the ratios of all rows; its pairs are the rounds in which all have one.

    rows: name -> round -> ratio, positive, no unit. The log ratios of a round are averaged over the
    rows first; the estimate and its interval are those of ``paired_ratio`` over these averages. So
    the rows may depend on each other, as two quantities of one process do; only the rounds have to
    be independent. The interval answers for
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
        centre = geometric_mean(
            {name: float(np.exp(np.mean(np.log(list(row.values()))))) for name, row in rows.items()}
        )
        note = f"every row was measured in {len(shared)} rounds; an interval needs {LEAST}"
        return PairedRatio(centre, None, None, len(shared), 1.0, confidence, note)
    logs = np.log(np.array([[row[number] for number in shared] for row in rows.values()]))
    return ratio_of_logs(logs.mean(axis=0), confidence)
