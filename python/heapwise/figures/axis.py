"""From numbers to places on the page, with ticks that people use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log, log10

from heapwise.wording.numbers import tick_percent


@dataclass(frozen=True)
class Axis:
    """Maps low ... high to start ... end; on a logarithmic scale when ``is_log``, where 0 and less
    is at the start."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def place(self, value: float) -> float:
        if self.is_log:
            share = log(value / self.low) / log(self.high / self.low) if value > 0 else 0.0
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        return self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)


def linear(values: Iterable[float], start: float, end: float, margin: float = 0.06) -> Axis:
    present = list(values)
    low, high = min(present), max(present)
    room = (high - low) * margin or abs(high) * 0.05 or 1.0
    return Axis(low - room, high + room, start, end)


def logarithmic(values: Iterable[float], start: float, end: float, margin: float = 0.08) -> Axis:
    """values above zero; a span of nothing becomes one of 10 %."""
    present = [value for value in values if value > 0] or [1.0]
    low, high = min(present), max(present)
    factor = (high / low) ** margin if high / low > 1.001 else 1.1
    return Axis(low / factor, high * factor, start, end, is_log=True)


def decade_ticks(axis: Axis, at_most: int = 8) -> list[float]:
    """1, 2, 5 in each decade, fewer when they would crowd; even steps for less than a factor 3."""
    if axis.high / axis.low < 3:
        return [t for t in even_ticks(axis.low, axis.high, at_most - 2) if t > 0]
    decades = range(floor(log10(axis.low)), ceil(log10(axis.high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [s * 10.0**d for d in decades for s in steps]
        ticks = [t for t in ticks if axis.holds(t)]
        if len(ticks) <= at_most:
            return ticks
    return ticks[:: ceil(len(ticks) / at_most)]


def even_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / max(1, about)
    if raw <= 0:
        return []
    power = 10.0 ** floor(log10(raw))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= raw * 0.999)
    return [round(n * step, 12) for n in range(ceil(low / step), floor(high / step + 1e-9) + 1)]


def is_wide(axis: Axis) -> bool:
    """From a factor of 4 on, factors say more than percentages."""
    return axis.high / axis.low >= 4


def ratio_ticks(axis: Axis, about: int = 5) -> list[float]:
    """Round percentages near 1, round factors over a wide span; 1 is always among them."""
    if not is_wide(axis):
        ticks = [1 + t for t in even_ticks(axis.low - 1, axis.high - 1, about)]
        if len(ticks) < 3:
            ticks = [1 + t for t in even_ticks(axis.low - 1, axis.high - 1, 2 * about)]
    else:
        ticks = _factor_ticks(axis, about + 2)
    return ticks if any(abs(t - 1) < 1e-9 for t in ticks) else sorted([*ticks, 1.0])


def _factor_ticks(axis: Axis, at_most: int) -> list[float]:
    """The finest of four ladders that does not crowd."""
    ticks: list[float] = []
    for steps in ((1, 1.5, 2, 3, 4, 6, 8), (1, 2, 5), (1, 3), (1,)):
        ticks = [round(s * 10.0**d, 12) for d in range(-4, 7) for s in steps]
        ticks = [t for t in ticks if axis.holds(t)]
        if len(ticks) <= at_most:
            break
    return ticks


def ratio_label(ratio: float, wide: bool) -> str:
    """``-10 %``, ``same``; ``0.5x`` over a wide span."""
    if abs(ratio - 1) < 1e-9:
        return "same"
    if wide:
        return f"{ratio:g}x"
    return tick_percent(ratio - 1)
