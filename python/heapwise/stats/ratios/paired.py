"""The ratio of two things that were measured side by side, with an honest interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from heapwise.stats.basics.arrays import median_of_sorted
from heapwise.stats.basics.signed_rank import interval_rank, p_value
from heapwise.stats.basics.student import LEAST, mean_interval
from heapwise.stats.ratios.pooled_scale import PooledScale

CONFIDENCE = 0.95
STRICT_CONFIDENCE = 0.99
"""The confidence of the interval that a verdict takes: a false verdict is worse than a missed
one."""


ENOUGH_PAIRS = 9
"""This many pairs show the scatter of a ratio well enough to say that there is no difference."""

MOST_STEP = 100.0
"""The largest logarithm of a ratio, and the largest step of numbers that are only known to a step:
nothing is known from here on, and exp overflows."""


@dataclass(frozen=True)
class LeastReach:
    """How far both ends of an interval are from the ratio at the least, on the log scale: as
    Student's of an estimate with this standard error. degrees: of freedom of the error. step: the
    numbers are only known to it."""

    error: float
    degrees: float
    step: float = 0.0

    def at(self, confidence: float) -> float:
        """The reach of the interval of this confidence."""
        from heapwise.stats.basics.special import stdtrit

        reach = float(stdtrit(self.degrees, (1 + confidence) / 2)) * self.error
        return min(reach + self.step, MOST_STEP)


@dataclass(frozen=True)
class PairedRatio:
    """subject / baseline. ``low`` and ``high`` are None when there are too few pairs (see note).

    ratio: no unit. n: pairs. p_value: two-sided, of "ratio is 1"; 1 without an interval. guard: by
    how much the strict interval is wider than its confidence asks for (``Dependence``). scale: of
    the strict interval, against that of the ratio's own rounds, if it is that of all subjects
    (``PooledScale``); None if it is its own. shared: the same of the usual interval. least: how
    far the ends of an interval of any confidence are from the ratio at the least.
    """

    ratio: float
    low: float | None
    high: float | None
    n: int
    p_value: float
    confidence: float = CONFIDENCE
    note: str = ""
    guard: float = 1.0
    scale: float | None = None
    shared: float | None = None
    least: LeastReach | None = None

    @property
    def whole(self) -> tuple[float, float] | None:
        """The interval in which "no difference" has to lie: ``low`` to ``high``, with few pairs at
        least as wide as the scale of all subjects makes it. Three ratios that are alike by chance
        show nothing. None without an interval."""
        few = self.shared is not None and self.n < ENOUGH_PAIRS
        return self._stretched(max(1.0, self.shared or 1.0) if few else 1.0)

    @property
    def strict(self) -> tuple[float, float] | None:
        """The interval that a verdict takes. None without an interval. It is never narrower than
        ``low`` to ``high``, so no verdict stands beside an interval that holds 1."""
        if self.scale is None:
            return self.ends(STRICT_CONFIDENCE)
        power = max(1.0, self.scale * self.guard * self._wider(STRICT_CONFIDENCE))
        return self._reaching(self._stretched(power), STRICT_CONFIDENCE)

    def ends(self, confidence: float) -> tuple[float, float] | None:
        """The interval of another confidence. None without an interval.

        By Student's t it is as much wider than ``low`` to ``high`` as its confidence asks for, and
        by ``guard``, on the log scale, and at least as wide as ``least`` says.
        """
        return self._reaching(self._stretched(self.guard * self._wider(confidence)), confidence)

    def _reaching(
        self, ends: tuple[float, float] | None, confidence: float
    ) -> tuple[float, float] | None:
        """Added, not multiplied: numbers that repeat have an interval without width."""
        if ends is None or self.least is None:
            return ends
        reach = float(np.exp(self.least.at(confidence)))
        return min(ends[0], self.ratio / reach), max(ends[1], self.ratio * reach)

    def _wider(self, confidence: float) -> float:
        """How much wider Student's interval of this confidence is than that of the usual one."""
        from heapwise.stats.basics.special import stdtrit

        wider, usual = (
            float(stdtrit(self.n - 1, (1 + each) / 2)) for each in (confidence, self.confidence)
        )
        return wider / usual

    def _stretched(self, power: float) -> tuple[float, float] | None:
        if self.low is None or self.high is None:
            return None
        most = float(np.exp(MOST_STEP))
        with np.errstate(over="ignore"):  # what no number can hold is beyond any ratio
            low, high = np.float64(self.low / self.ratio), np.float64(self.high / self.ratio)
            ends = self.ratio * low**power, self.ratio * high**power
        return float(max(ends[0], 1 / most)), float(min(ends[1], most))

    @property
    def error(self) -> float | None:
        """The standard error of the logarithm, by Student's t from the interval. None without
        one."""
        from heapwise.stats.basics.special import stdtrit

        if self.low is None or self.high is None:
            return None
        half = float(np.log(self.high / self.low)) / 2
        return half / float(stdtrit(self.n - 1, (1 + self.confidence) / 2))

    def on(self, scale: PooledScale) -> PairedRatio:
        """The same with a strict interval of this scale, before anything widens it."""
        if self.low is None or self.high is None or self.error == 0:
            return self
        own = float(np.log(self.high / self.low)) / 2
        strict = own * self._wider(STRICT_CONFIDENCE)
        return replace(
            self, scale=scale.reach / strict, shared=scale.reach_of(self.confidence) / own
        )

    @property
    def half_width(self) -> float | None:
        """Half the interval's width relative to the ratio: 0.01 means +-1 %. None without one."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / (2 * self.ratio)

    def widened(self, factor: float, strict_factor: float | None = None) -> PairedRatio:
        """The same with an interval ``factor`` times as wide, on the log scale, and a strict one
        ``strict_factor`` (None: ``factor``) times as wide.

        The p-value grows with it: by Student's t it is that of an estimate as far from 1, in half
        widths of the interval, as this one. So 1 stays outside exactly when p < 1 - confidence.
        """
        strict_factor = factor if strict_factor is None else strict_factor
        guard = self.guard * strict_factor / factor
        least = self.least and replace(
            self.least,
            error=self.least.error * strict_factor,
            step=self.least.step * strict_factor,
        )
        ends = self._stretched(factor)
        if ends is None or factor == 1:
            return replace(self, guard=guard, least=least)
        low, high = ends
        return replace(
            self,
            low=low,
            high=high,
            guard=guard,
            least=least,
            p_value=max(self.p_value, self._p_of(self.ratio, low, high)),
        )

    def at_least(self, error: float, degrees: float) -> PairedRatio:
        """The same, both ends of each interval at least as far from the ratio as Student's of an
        estimate (a logarithm) with this standard error, of which the degrees of freedom are
        known."""
        if self.low is None or self.high is None or error == 0:
            return self
        found = replace(self, least=LeastReach(error, degrees))
        ends = found._reaching((self.low, self.high), self.confidence)
        if ends is None or ends == (self.low, self.high):
            return found
        low, high = ends
        p_value = max(self.p_value, self._p_of(self.ratio, low, high))
        return replace(found, low=low, high=high, p_value=p_value)

    def blurred(self, step: float) -> PairedRatio:
        """The same for numbers that are only known to ``step`` (a logarithm): both ends move by
        it."""
        if self.low is None or self.high is None or step == 0:
            return self
        blur = float(np.exp(min(step, MOST_STEP)))
        low, high = self.low / blur, self.high * blur
        return replace(
            self,
            low=low,
            high=high,
            p_value=max(self.p_value, self._p_of(self.ratio, low, high)),
            least=self.least and replace(self.least, step=self.least.step + step),
        )

    def less(self, bias: float) -> PairedRatio:
        """The same, smaller by a bias (a logarithm, at least 0) of the estimate. Only the lower end
        moves with it: without the bias the upper end would be right, too."""
        if self.low is None or self.high is None or bias == 0:
            return replace(self, ratio=self.ratio / float(np.exp(bias)))
        ratio, low = (value / float(np.exp(bias)) for value in (self.ratio, self.low))
        return replace(
            self, ratio=ratio, low=low, p_value=max(self.p_value, self._p_of(ratio, low, self.high))
        )

    def _p_of(self, ratio: float, low: float, high: float) -> float:
        return _p_by_width(ratio, low if ratio > 1 else high, self.n, self.confidence)


def _p_by_width(ratio: float, end: float, n: int, confidence: float) -> float:
    """Two-sided, of "ratio is 1". end: of the interval, on the side of 1."""
    from heapwise.stats.basics.special import stdtr, stdtrit

    distance, reach = abs(float(np.log(ratio))), abs(float(np.log(end / ratio)))
    if distance == 0:
        return 1.0
    if reach == 0:
        return 0.0
    half = float(stdtrit(n - 1, (1 + confidence) / 2))
    return float(2 * stdtr(n - 1, -half * distance / reach))


@lru_cache(maxsize=8)
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first and the second of all pairs (i <= j). The same few counts come again and again."""
    first, second = np.triu_indices(count)
    return first, second


def walsh_averages(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sorted means of all pairs (i <= j); shape (n,) in, (n*(n+1)/2,) out, same unit."""
    first, second = _pairs(len(differences))
    return np.sort((differences[first] + differences[second]) / 2)


def _log_ratios(subject: Sequence[float], baseline: Sequence[float]) -> NDArray[np.float64]:
    above = np.asarray(subject, dtype=np.float64)
    below = np.asarray(baseline, dtype=np.float64)
    if above.shape != below.shape or above.ndim != 1:
        raise ValueError("paired_ratio needs two lists of equal length, one number per pair")
    if len(above) == 0:
        raise ValueError("paired_ratio needs at least one pair")
    if not (np.all(np.isfinite(above) & (above > 0)) and np.all(np.isfinite(below) & (below > 0))):
        raise ValueError("a ratio needs finite numbers above zero")
    return np.log(above) - np.log(below)


def paired_ratio(
    subject: Sequence[float], baseline: Sequence[float], confidence: float = CONFIDENCE
) -> PairedRatio:
    """The ratio subject/baseline with an interval, from the log ratios of the pairs.

    subject, baseline: shape (n,), the same positive unit; element i of both comes from round i.
    From 6 pairs on: the Hodges-Lehmann estimate (exp of the median of the Walsh averages) with the
    exact signed-rank interval (the Walsh averages whose ranks the signed-rank distribution gives).
    It assumes independent pairs whose log ratios lie symmetrically round their centre.
    3 to 5 pairs: the geometric mean with Student's t interval (``mean_interval``), because no rank
    interval of 95 % exists. Fewer: no interval.
    1 is outside the interval exactly when p < 1 - confidence (without ties).
    Raises ValueError for unequal lengths, no pair, or a number that is not finite and positive.
    Source: J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank tests",
    Ann. Math. Statist. 34 (1963) 598-611; Hollander and Wolfe, sections 3.2 and 3.3.
    """
    return ratio_of_logs(_log_ratios(subject, baseline), confidence)


def centre(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of what ``ratio_of_logs`` estimates; shape (..., n) in, (...) out."""
    if interval_rank(logs.shape[-1], CONFIDENCE) is None:
        return np.asarray(logs.mean(axis=-1), dtype=np.float64)
    first, second = _pairs(logs.shape[-1])
    return np.asarray(
        np.median((logs[..., first] + logs[..., second]) / 2, axis=-1), dtype=np.float64
    )


def ratio_of_logs(logs: NDArray[np.float64], confidence: float = CONFIDENCE) -> PairedRatio:
    """As ``paired_ratio``, from log ratios, shape (n,), one for each round."""
    rank = interval_rank(len(logs), confidence)
    if rank is None:
        return by_student(logs, confidence)
    averages = walsh_averages(logs)
    statistic = float(np.sum(averages > 0) + np.sum(averages == 0) / 2)
    return PairedRatio(
        ratio=float(np.exp(median_of_sorted(averages))),
        low=float(np.exp(averages[rank - 1])),
        high=float(np.exp(averages[-rank])),
        n=len(logs),
        p_value=p_value(statistic, len(logs)),
        confidence=confidence,
    )


def by_student(logs: NDArray[np.float64], confidence: float) -> PairedRatio:
    """logs: shape (n,), log ratios, independent. Without an interval below 3 of them."""
    found = mean_interval(logs.tolist(), confidence)
    if found is None:
        note = f"{len(logs)} of the {LEAST} rounds that an interval needs"
        return PairedRatio(float(np.exp(logs.mean())), None, None, len(logs), 1.0, confidence, note)
    return PairedRatio(
        float(np.exp(found.mean)),
        float(np.exp(found.low)),
        float(np.exp(found.high)),
        len(logs),
        found.p_value,
        confidence,
    )
