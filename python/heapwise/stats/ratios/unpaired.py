"""The ratio of two things that were not measured side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heapwise.stats.basics.ranks import mann_whitney
from heapwise.stats.ratios.paired import CONFIDENCE, PairedRatio

LEAST = 4
"""Numbers on each side: with 3 and 3 no rank test reaches 5 %."""


def unpaired_ratio(
    above: Sequence[float], below: Sequence[float], confidence: float = CONFIDENCE
) -> PairedRatio:
    """above / below, from logarithms; shapes (m,) and (n,), one unit, positive.

    The estimate is that of Hodges and Lehmann for two samples: the median of all differences. The
    interval inverts the test of Mann and Whitney, so it assumes that the numbers of either side are
    independent and scatter alike. It knows nothing of what changed between the two, such as a
    neighbour that came or a clock that another load has lowered. ``n`` is the smaller number.
    Below 4 on a side there is no interval.
    Source: Hollander and Wolfe, "Nonparametric Statistical Methods", sections 4.2 and 4.3.
    """
    upper = np.log(np.asarray(above, dtype=np.float64))
    lower = np.log(np.asarray(below, dtype=np.float64))
    differences = np.sort(np.subtract.outer(upper, lower).ravel())
    ratio, least = float(np.exp(np.median(differences))), min(len(upper), len(lower))
    rank = None if least < LEAST else _rank(len(upper), len(lower), (1 - confidence) / 2)
    if rank is None:
        return PairedRatio(
            ratio,
            None,
            None,
            least,
            1.0,
            confidence,
            f"{least} of the {LEAST} rounds on each side that an interval needs",
        )
    return PairedRatio(
        ratio,
        float(np.exp(differences[rank - 1])),
        float(np.exp(differences[-rank])),
        least,
        mann_whitney(upper, lower),
        confidence,
    )


def _rank(m: int, n: int, tail: float) -> int | None:
    """How many of the sorted differences lie outside on each side, plus one.

    By the normal approximation of the statistic, with the correction for continuity and rounded
    outwards; its error is far below the step of a rank where either side has 4 numbers.
    """
    from heapwise.stats.basics.special import ndtri

    deviation = np.sqrt(m * n * (m + n + 1) / 12)
    rank = int(np.floor(m * n / 2 + float(ndtri(tail)) * deviation - 0.5)) + 1
    return rank if rank >= 1 else None
