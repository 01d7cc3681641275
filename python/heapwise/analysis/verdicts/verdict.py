"""From an interval and a noise floor to a word. Derived here, typed in nowhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.series import Side
from heapwise.model import Better
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.wording.numbers import percent
from heapwise.wording.ratios import signed_ends

VerdictWord = Literal["better", "worse", "no difference", "cannot tell"]

Kept = Literal["met", "not met", "cannot tell here"]

EQUIVALENT = 0.02
"""An interval wholly within 2 % of 1 is called no difference; a wider noise floor widens that,"""

AT_MOST = 0.05
"""but never beyond 5 %: where the same thing differs from itself by more, nobody has shown that two
others do not."""


def judge(
    ratio: PairedRatio | None, better: Better, floor: float | None, least: float | None = None
) -> VerdictWord:
    """Better or worse takes two things: 1 outside the strict interval, and more than ``least``,
    which is the noise floor if nothing is given (``NoiseFloor.least``).

    No difference takes an interval within 1 +- max(2 %, floor), after few rounds also by the scale
    of all subjects, and a floor of at most 5 %. Everything else cannot be told yet.
    """
    if ratio is None or ratio.whole is None or ratio.strict is None:
        return "cannot tell"
    excludes_one = not ratio.strict[0] <= 1 <= ratio.strict[1]
    least = floor or 0.0 if least is None else least
    if excludes_one and max(ratio.ratio, 1 / ratio.ratio) - 1 > least:
        return "better" if (ratio.ratio < 1) == (better == "lower") else "worse"
    return "no difference" if _is_within(ratio.whole, floor) else "cannot tell"


def _is_within(ends: tuple[float, float], floor: float | None) -> bool:
    margin = max(EQUIVALENT, floor or 0.0)
    return margin <= AT_MOST and ends[0] >= 1 / (1 + margin) and ends[1] <= 1 + margin


def doubt(ratio: PairedRatio | None, floor: float | None, least: float | None = None) -> str:
    """Why there is no verdict although the usual interval excludes 1, or is close to it; "" where
    the interval says it."""
    if ratio is None or ratio.low is None or ratio.high is None or ratio.strict is None:
        return ""
    if _is_within((ratio.low, ratio.high), floor):
        whole = ratio.whole or (ratio.low, ratio.high)
        alike = _is_within(whole, floor)
        return "" if alike else f"by the scatter of all subjects {signed_ends(*whole)}"
    if ratio.low <= 1 <= ratio.high:
        near = max(ratio.high, 1 / ratio.low) - 1 <= AT_MOST < (floor or 0.0)
        return f"with a noise floor of {percent(floor or 0.0)}" if near else ""
    if ratio.strict[0] <= 1 <= ratio.strict[1]:
        return f"strict interval {signed_ends(*ratio.strict)}"
    least = floor or 0.0 if least is None else least
    within = max(ratio.ratio, 1 / ratio.ratio) - 1 <= least
    return f"within the noise floor of {percent(floor or 0.0)}" if within else ""


@dataclass(frozen=True)
class Figure:
    """A ratio, or a value in any unit; low and high None without an interval. strict: the interval
    that a verdict takes, which only ratios have; of others it is low to high."""

    value: float
    low: float | None
    high: float | None
    note: str = ""
    strict: tuple[float, float] | None = None

    @staticmethod
    def of(ratio: PairedRatio, note: str = "") -> Figure:
        return Figure(ratio.ratio, ratio.low, ratio.high, note, ratio.strict)

    def times(self, factor: float) -> Figure:
        def scaled(value: float | None) -> float | None:
            return None if value is None else value * factor

        strict = self.strict and (self.strict[0] * factor, self.strict[1] * factor)
        return Figure(self.value * factor, scaled(self.low), scaled(self.high), self.note, strict)

    def inverse(self) -> Figure:
        """The inverse of a ratio."""
        strict = self.strict and (1 / self.strict[1], 1 / self.strict[0])
        return Figure(
            1 / self.value,
            self.high and 1 / self.high,
            self.low and 1 / self.low,
            self.note,
            strict,
        )


def kept(figure: Figure, at_least: float, at_most: float | None, floor: float | None) -> Kept:
    """Whether a figure lies between two bounds, or beyond one of them.

    As of a difference, either takes two things: the strict interval wholly on one side of the
    bound, and the figure farther from it than the noise floor. None: no upper bound; 0: it never
    happens.
    """
    if figure.low is None or figure.high is None:
        return "cannot tell here"
    top, room = float("inf") if at_most is None else at_most, 1 + (floor or 0.0)
    low, high = figure.strict or (figure.low, figure.high)
    if at_least <= low and high <= top and (at_least * room <= figure.value <= top / room):
        return "met"
    below = high < at_least and figure.value * room < at_least
    above = low > top and figure.value > top * room
    happened = top == 0 and figure.high > 0
    return "not met" if below or above or happened else "cannot tell here"


def floor_of(evidence: Evidence, sides: Iterable[Side]) -> float | None:
    """The wider noise floor of the cells; None if none is known."""
    floors = comparisons_of(evidence).floors
    return max((floors[cell] for cell, _ in sides if cell in floors), default=None)


def least_of(
    evidence: Evidence, sides: tuple[Side, Side], ratio: PairedRatio | None
) -> float | None:
    """The difference that a claim about two sides has to exceed; the noise floor, if they are of
    several cells."""
    (cell, _), (other, _) = sides
    if cell == other:
        noise = comparisons_of(evidence).noise.get(cell)
        return noise.least(ratio) if noise else None
    return floor_of(evidence, sides)
