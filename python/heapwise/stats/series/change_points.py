"""Where a series of measurements changed its level: E-divisive in windows, deaf to single spikes.

The divergence is that of D. S. Matteson and N. A. James, "A nonparametric approach for multiple
change point analysis of multivariate data", JASA 109 (2014), arXiv 1306.4933. Windows, Student's
test in place of permutations, and weak points that are tried again come from M. Fleming et al.,
"Hunter", ICPE 2023, arXiv 2301.03034. Everything is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from heapwise.stats.basics.arrays import Floats
from heapwise.stats.series.serial import serial_correlation

LEAST = 3
"""Values on each side of a change point. One or two values that stray make none."""

WINDOW = 50
"""Values that are looked at together; neighbouring windows share half of them."""

P_VALUE = 0.0007
"""The largest p-value of a change point, adjusted for the number of places it was chosen from
(Bonferroni). It is about the share of series that have no change and in which one is found, if the
values do not depend on each other."""

WEAK = 30.0
"""A place in one window may have a p-value this many times as large: the whole segments decide. If
the end of the later segment is chosen from the window too, its p-value is this many times smaller.
"""

SPIKE = 4.0
"""A value this many standard deviations away from the median of its neighbours is a spike."""

NEIGHBOURS = 2
"""On each side. So three values together are a level of their own, and two are not."""

CONFIDENCE = 0.95

UPPER_QUARTILE = 1.1503 * 2**0.5
"""The upper quartile of the distance of two normal numbers with standard deviation 1."""


@dataclass(frozen=True)
class ChangePoint:
    """index: of the first value after the change. before, after: means of the segments, without
    spikes, in the unit of the values. change: relative; 0.05 is 5 % more. low, high: its interval
    of 95 %. change, low and high are None if there is nothing before that a change could be
    relative to."""

    index: int
    p_value: float
    before: float
    after: float
    change: float | None
    low: float | None
    high: float | None


def change_points(
    values: Sequence[float], *, least_change: float = 0.0, p_value: float = P_VALUE
) -> list[ChangePoint]:
    """values: shape (n,), in the order of what was measured. Empty for fewer than 6 values.

    least_change: smaller relative changes are not change points. p_value: see ``P_VALUE``.
    """
    numbers = without_spikes(np.asarray(values, dtype=np.float64))
    found = _weak_points(numbers, p_value)
    alike = serial_correlation(numbers, found)
    while found:
        points = [_describe(numbers, *around, alike) for around in _triples(found, len(numbers))]
        worst = max(points, key=lambda point: point.p_value)
        if worst.p_value <= p_value:
            worst = min(points, key=_size)
            if _size(worst) >= least_change:
                return points
        found.remove(worst.index)  # its neighbours' segments grow, so they are judged again
    return []


def without_spikes(values: Floats) -> Floats:
    """The values, with each spike replaced by the median of its neighbourhood.

    The scale of the noise is the upper quartile of the differences of neighbouring values: changes
    of the level are few among them, and the median would be 0 for values that have only two levels.
    Source: R. K. Pearson, "Outliers in process modeling and identification",
    IEEE Trans. Control Systems Technology 10 (2002): the Hampel filter.
    """
    if len(values) < LEAST:
        return values
    noise = float(np.quantile(np.abs(np.diff(values)), 0.75)) / UPPER_QUARTILE
    width = min(2 * NEIGHBOURS + 1, len(values))
    found = np.median(np.lib.stride_tricks.sliding_window_view(values, width), axis=1)
    begins = np.clip(np.arange(len(values)) - NEIGHBOURS, 0, len(found) - 1)
    medians = found[begins]  # the first and the last values share a neighbourhood
    return np.where(np.abs(values - medians) > SPIKE * noise, medians, values)


def divergence(values: Floats) -> Floats:
    """q[i, j]: how much ``values[:i]`` and ``values[i:j]`` differ, for 0 < i < j <= n; else 0.

    Shape (n,) in, (n + 1, n + 1) out, in the unit of the values. With m and k numbers in the two
    sets, it is m k / (m + k) times the mean distance between the sets, twice, less the mean
    distances of the pairs within each (power 1). Sums over all pairs are differences of one
    cumulated matrix.
    """
    n = len(values)
    total = np.zeros((n + 1, n + 1))
    total[1:, 1:] = np.abs(values[:, None] - values[None, :]).cumsum(axis=0).cumsum(axis=1)
    first, last = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    own = np.diagonal(total)
    between = total - own[:, None]
    left = np.broadcast_to(own[:, None], total.shape) / 2
    right = (own[None, :] - 2 * total + own[:, None]) / 2
    m, k = first, last - first
    valid = (m > 0) & (k > 0)
    q = 2 * between - 2 * k * left / np.maximum(m - 1, 1) - 2 * m * right / np.maximum(k - 1, 1)
    return np.where(valid, q / np.maximum(last, 1), 0.0)


def best_split(values: Floats, least: int = LEAST) -> tuple[float, int, int] | None:
    """The largest divergence, the place where it is, and the end of the second set. None for fewer
    than 2 * ``least`` values.

    The second set need not reach the end of the values: what follows may be another level.
    """
    n = len(values)
    if n < 2 * least:
        return None
    first, last = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    q = np.where(
        (first >= least) & (last - first >= least) & (n - first >= least),
        divergence(values),
        -np.inf,
    )
    place, end = np.unravel_index(np.argmax(q), q.shape)
    return float(q.max()), int(place), int(end)


def _weak_points(values: Floats, p_value: float) -> list[int]:
    """Places that one window suggests."""
    found: set[int] = set()
    start = 0
    while start < len(values):
        window = values[start : start + WINDOW]
        inside = _divide(window, p_value)
        found.update(start + place for place in inside)
        # A window that begins at a change point has one level less to tell apart.
        start = max(start + WINDOW // 2, start + max(inside, default=0))
    return sorted(found)


def _divide(values: Floats, p_value: float) -> list[int]:
    """The most divergent place first, then the most divergent one between those found, until the
    best one is not significant."""
    found: list[int] = []
    while True:
        candidates = [
            (split[0], low, low + split[1], low + split[2], high)
            for low, high in pairwise([0, *found, len(values)])
            if (split := best_split(values[low:high])) is not None
        ]
        if not candidates:
            return found
        _, low, place, end, high = max(candidates)
        choices = high - low - 2 * LEAST + 1
        # A level that ends within the window shows only against its own values; then the end was
        # chosen, too.
        whole = _describe(values, low, place, high).p_value
        part = _describe(values, low, place, end).p_value * choices
        if whole > WEAK * p_value and part > p_value / WEAK:
            return found
        found = sorted([*found, place])


def _triples(places: Sequence[int], end: int) -> Iterable[tuple[int, int, int]]:
    """Each place with the one before and the one after it."""
    return zip([0, *places[:-1]], places, [*places[1:], end], strict=True)


def _describe(values: Floats, low: int, place: int, high: int, alike: float = 0.0) -> ChangePoint:
    """The change at ``place``, by Student's t test of the segments beside it.

    alike: the correlation of neighbouring values. n of them say as much of a mean as
    n (1 - alike) / (1 + alike) independent values.
    """
    from heapwise.stats.basics.special import stdtr, stdtrit

    left, right = values[low:place], values[place:high]
    before, after = float(left.mean()), float(right.mean())
    free = len(left) + len(right) - 2
    squares = float(((left - before) ** 2).sum() + ((right - after) ** 2).sum())
    worth = (1 - alike) / (1 + alike)
    error = float(np.sqrt(squares / max(free, 1) / worth * (1 / len(left) + 1 / len(right))))
    degrees = max(1.0, free * worth)
    shift = after - before
    if free < 1:
        p = 1.0
    elif error <= 1e-12 * max(abs(before), abs(after)):  # nothing but rounding
        p = 1.0 if abs(shift) <= 1e-9 * max(abs(before), abs(after)) else 0.0
    else:
        p = float(2 * stdtr(degrees, -abs(shift) / error))
    p = min(1.0, p * (high - low - 2 * LEAST + 1))
    if before == 0 or free < 1:
        return ChangePoint(place, p, before, after, None, None, None)
    half = float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * error
    low_end, high_end = sorted(((shift - half) / before, (shift + half) / before))
    return ChangePoint(place, p, before, after, shift / before, low_end, high_end)


def _size(point: ChangePoint) -> float:
    """Alike for a change and its undoing."""
    if point.change is None or point.after == 0:
        return float("inf") if point.before != point.after else 0.0
    return max(abs(point.change), abs(point.before / point.after - 1))
