"""Builds that were linked again and again: the layout of a program as a random effect.

Rounds of one layout share its luck, so they are not independent measurements of it. The
layouts are independent. So an interval is that of the means of layouts, by Student's t, whatever
part of their scatter is layout and what part is noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heapwise.stats.basics.arrays import Floats
from heapwise.stats.ratios.paired import CONFIDENCE, PairedRatio, by_student

LEAST_WITHIN = 5
"""Rounds that repeat a layout, from which noise and layout can be told apart."""


def layout_means(logs: Sequence[float] | Floats, layouts: Sequence[int]) -> list[float]:
    """logs: shape (n,), of each round. layouts: of the same rounds. The mean of each layout, in the
    order in which the layouts come first."""
    return [float(np.mean(each)) for each in _groups(logs, layouts)]


def ratio_over_layouts(
    logs: Sequence[float] | Floats, layouts: Sequence[int]
) -> PairedRatio | None:
    """The ratio of two builds, each round under a layout of each. ``n`` is the number of layouts.
    None below 3 layouts.

    The mean and not the Hodges-Lehmann estimate: layouts are often of two kinds, a fast and a slow
    one, and ranks of two kinds make an interval that is too narrow.
    """
    found = by_student(np.array(layout_means(logs, layouts)), CONFIDENCE)
    return found if found.low is not None else None


def layout_deviation(logs: Sequence[float] | Floats, layouts: Sequence[int]) -> float | None:
    """The deviation of one build's layouts, from its ratios to itself under other layouts.

    logs: shape (n,), of each round; a ratio has the variance of two layouts. None while too few
    rounds repeat a layout. By the analysis of variance for one random effect (S. R. Searle,
    G. Casella and C. E. McCulloch, Variance Components, Wiley 1992, section 3.6).
    """
    groups = _groups(logs, layouts)
    rounds, kinds = sum(map(len, groups)), len(groups)
    if kinds < 2 or rounds - kinds < LEAST_WITHIN:
        return None
    sizes = np.array([len(each) for each in groups], dtype=np.float64)
    means = np.array([each.mean() for each in groups])
    whole = float(np.average(means, weights=sizes))
    within = sum(float(((each - each.mean()) ** 2).sum()) for each in groups) / (rounds - kinds)
    between = float((sizes * (means - whole) ** 2).sum()) / (kinds - 1)
    usual = (rounds - float((sizes**2).sum()) / rounds) / (kinds - 1)
    return float(np.sqrt(max(0.0, (between - within) / usual) / 2))


def _groups(logs: Sequence[float] | Floats, layouts: Sequence[int]) -> list[Floats]:
    values = np.asarray(logs, dtype=np.float64)
    numbers = np.asarray(layouts)
    return [values[numbers == layout] for layout in dict.fromkeys(layouts)]
