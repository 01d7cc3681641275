"""Whether a level that was watched over time grows, with an interval of its slope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import floor
from typing import Literal

import numpy as np

from heapwise.stats.basics.arrays import Floats
from heapwise.stats.series.center import location_interval

BLOCKS, PARTS = 12, 3
"""Values are averaged over blocks, within which they depend on each other. What grows must grow in
each of the parts: one step between two levels is not growth."""

FEWEST = 24
"""Values of one series; with fewer there is no answer."""

STRICT, USUAL = 0.999, 0.95
SHARE_OF_A_PART = 0.2
"""Each part must grow at least by this share of the slope of all."""

LEAST_GROWTH = 1e-3
"""The share of the level, over the time that was watched: less is not called growth."""

LEVEL_PER_HOUR = 0.01
"""The share of the level: if the interval lies within this much per hour, the level does not
change."""

HOUR_S = 3600.0

MANY = 6
"""Series of which each has one slope, which are enough for an interval over the series."""

Direction = Literal["grows", "falls", "level", "cannot tell"]


@dataclass(frozen=True)
class Growth:
    """per_hour, low, high: in the unit of the values; low and high are the ends of the 95 %
    interval, None if there are too few values. level: the median of all values."""

    trend: Direction
    per_hour: float
    low: float | None
    high: float | None
    level: float


@dataclass(frozen=True)
class _Slope:
    """The slope of one series, per second. ``parts``: of its parts, one after the other."""

    slope: float
    usual: tuple[float, float]
    strict: tuple[float, float]
    parts: tuple[float, ...]
    seconds: float
    level: float


def growth(series: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Growth | None:
    """The common growth of several series of (seconds, values), each of shape (n,), seconds
    rising. None if every series has fewer than 24 values.

    One slope for each series: the median of the slopes between all pairs of block means (P. K. Sen,
    "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968) 1379-1389).
    From 6 series on the interval is that of the median of their slopes; below that it is Sen's of
    the series with the widest one, widened by (1 + r) / (1 - r) for a correlation r > 0 between
    neighbouring blocks.
    """
    slopes = [
        _slope(np.asarray(at, dtype=np.float64), np.asarray(values, dtype=np.float64))
        for at, values in series
        if len(at) >= FEWEST
    ]
    if not slopes:
        return None
    centre = float(np.median([one.slope for one in slopes]))
    level = float(np.median([one.level for one in slopes]))
    usual, strict = _ends(slopes, USUAL), _ends(slopes, STRICT)
    seconds = float(np.median([one.seconds for one in slopes]))
    trend = _trend(slopes, centre, usual, strict, level, seconds)
    low, high = (None if end is None else end * HOUR_S for end in usual)
    return Growth(trend, centre * HOUR_S, low, high, level)


def _ends(slopes: list[_Slope], confidence: float) -> tuple[float | None, float | None]:
    if len(slopes) >= MANY:
        found = location_interval([one.slope for one in slopes], confidence)
        if found.low is not None:
            return found.low, found.high
    return max(
        (one.strict if confidence == STRICT else one.usual for one in slopes),
        key=lambda ends: ends[1] - ends[0],
    )


def _trend(
    slopes: list[_Slope],
    centre: float,
    usual: tuple[float | None, float | None],
    strict: tuple[float | None, float | None],
    level: float,
    seconds: float,
) -> Direction:
    if strict[0] is None or strict[1] is None or usual[0] is None or usual[1] is None:
        return "cannot tell"
    if (strict[0] > 0 or strict[1] < 0) and abs(centre) * seconds >= LEAST_GROWTH * abs(level):
        sign = 1.0 if centre > 0 else -1.0
        parts = np.median([one.parts for one in slopes], axis=0)
        if all(sign * part >= SHARE_OF_A_PART * abs(centre) for part in parts):
            return "grows" if centre > 0 else "falls"
    margin = LEVEL_PER_HOUR * abs(level) / HOUR_S
    return "level" if -margin <= usual[0] and usual[1] <= margin else "cannot tell"


def _slope(at: Floats, values: Floats) -> _Slope:
    """Blocks of equal time, so that moments that lie close together do not count for more."""
    edges = np.linspace(at[0], at[-1], BLOCKS + 1)
    places = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, BLOCKS - 1)
    present = [block for block in range(BLOCKS) if np.any(places == block)]
    times = np.array([at[places == block].mean() for block in present])
    means = np.array([values[places == block].mean() for block in present])
    slope, (usual, strict) = _sen(times, means)
    rest = means - slope * times
    wider = _widening(rest)
    parts = tuple(
        _sen_slope(times[part], means[part])
        for part in np.array_split(np.arange(len(times)), PARTS)
    )
    return _Slope(
        slope,
        _widened(slope, usual, wider),
        _widened(slope, strict, wider),
        parts,
        float(at[-1] - at[0]),
        float(np.median(values)),
    )


def _pairs(times: Floats, means: Floats) -> Floats:
    first, second = np.triu_indices(len(times), 1)
    return np.sort((means[second] - means[first]) / (times[second] - times[first]))


def _sen_slope(times: Floats, means: Floats) -> float:
    return float(np.median(_pairs(times, means))) if len(times) > 1 else 0.0


def _sen(times: Floats, means: Floats) -> tuple[float, list[tuple[float, float]]]:
    """The slope, and the ends for the usual and the strict confidence."""
    ordered = _pairs(times, means)
    ends = []
    for confidence in (USUAL, STRICT):
        most = kendall_quantile(len(times), confidence)
        low = max(0, floor((len(ordered) - most) / 2))
        ends.append((float(ordered[low]), float(ordered[len(ordered) - 1 - low])))
    return float(np.median(ordered)), ends


@cache
def kendall_quantile(n: int, confidence: float) -> int:
    """The least c for which the score of Kendall's tau (concordant less discordant pairs) of n
    values without ties lies in -c ... c with at least ``confidence``, if order is chance.

    Counted exactly: the number of discordant pairs of a random order is the sum of independent
    uniform numbers 0 ... k for k below n.
    """
    chances = np.ones(1)
    for k in range(1, n):
        chances = np.convolve(chances, np.full(k + 1, 1.0 / (k + 1)))
    most = n * (n - 1) // 2
    scores = np.abs(most - 2 * np.arange(most + 1))
    for c in range(most % 2, most + 1, 2):
        if chances[scores <= c].sum() >= confidence:
            return c
    return most


def _widening(rest: Floats) -> float:
    """The widening for what is left without the slope; at most tenfold.

    The correlation of so few blocks comes out too small, by about (2 + 4 r) / n without the slope
    (F. H. C. Marriott and J. A. Pope, "Bias in the estimation of autocorrelations", Biometrika 41
    (1954) 390-402), which is added.
    """
    deviations = rest - rest.mean()
    total = float(deviations @ deviations)
    if total <= 0:
        return 1.0
    correlation = float(deviations[1:] @ deviations[:-1]) / total
    kept = min(max(0.0, correlation + (2 + 4 * correlation) / len(rest)), 0.98)
    return min(10.0, float(np.sqrt((1 + kept) / (1 - kept))))


def _widened(slope: float, ends: tuple[float, float], factor: float) -> tuple[float, float]:
    return slope - factor * (slope - ends[0]), slope + factor * (ends[1] - slope)
