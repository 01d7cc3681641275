"""Numbers as a person reads them: one scale per column, three figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import floor, log10

from heapwise.wording.time_unit import chosen_time_unit

ShowNumber = Callable[[float], str]
"""How a number is written in a figure or a table."""

SCALES: dict[str, list[tuple[float, str]]] = {
    "s": [(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")],
    "ns": [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")],
    "ns/op": [(1.0, "ns/op"), (1e3, "µs/op"), (1e6, "ms/op")],
    "bytes": [(1.0, "B"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB")],
    "count": [(1.0, "")],
    "ratio": [(1.0, "")],
}
TIME_UNITS = {"s", "ns", "ns/op", "us", "ms"}
TWICE = 2.0
"""From this factor on, percentages mislead: 141 % more is 2.41 times as much."""

MORE, AS_MUCH = "more", "as much"
""""1.2x more" may be read as 2.2 times as much."""

LESS, LEAST_SHARE = "less", 0.05
""""1.18x less" has two meanings, so down to this share of the whole it is written in percent."""


@dataclass(frozen=True)
class Scale:
    """``factor`` stored units make one shown unit, called ``label``."""

    factor: float
    label: str

    def number(self, value: float) -> str:
        return significant(value / self.factor)

    def text(self, value: float) -> str:
        return f"{self.number(value)} {self.label}".rstrip()

    def heading(self, name: str) -> str:
        """The head of a column of numbers: ``time, ms``."""
        return f"{name}, {self.label}" if self.label else name

    def ends(self, low: float, high: float) -> str:
        return f"{self.number(low)} to {self.number(high)}"


def scale_for(values: Iterable[float | None], unit: str) -> Scale:
    """The scale in which the smallest positive value is at least 1, if there is one; for seconds
    the unit that the user chose."""
    steps = SCALES.get(unit, [(1.0, unit)])
    if unit == "s" and (chosen := chosen_time_unit()):
        steps = [step for step in steps if step[1] == chosen]
    present = [abs(v) for v in values if v]
    least = min(present, default=1.0)
    factor, label = max((step for step in steps if step[0] <= least * 1.0000001), default=steps[0])
    return Scale(factor, label)


def significant(value: float, figures: int = 3) -> str:
    """1234.5 -> ``1,234``; 2.408 -> ``2.41``; 0.01234 -> ``0.0123``. Whole parts stay whole."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{figures - 1}e}")
    decimals = max(0, figures - 1 - floor(log10(abs(rounded))))
    return f"{value:,.{min(decimals, 9)}f}"


def show(value: float, unit: str) -> str:
    return scale_for([value], unit).text(value)


def size(value: float) -> str:
    """Bytes that are often a power of two: ``4 KiB``, ``23.5 GiB``, ``−781 KiB``."""
    if value < 0:
        return f"−{size(-value)}"
    scale = scale_for([value], "bytes")
    return (
        f"{value / scale.factor:.4g} {scale.label}"
        if value >= 1000 * scale.factor
        else f"{value / scale.factor:.3g} {scale.label}"
    )


def count(number: float) -> str:
    """1234 -> ``1,234``, -2 -> ``−2``."""
    return _with_minus(f"{number:,.0f}")


def times(ratio: float, figures: int = 3) -> str:
    """11.015 -> ``11.0x``."""
    return f"{significant(ratio, figures)}x"


def factor_words(ratio: float, word: str) -> str:
    """Says a ratio from 1 on: ``3.00x faster``, and ``2.41x as much`` if the word is "more"."""
    return f"{times(ratio)} {AS_MUCH if word == MORE else word}"


def compared(words: str, other: str) -> str:
    """``3.00x faster than old``, ``2.41x as much as old``."""
    return f"{words} {'as' if words.endswith(AS_MUCH) else 'than'} {other}"


def percent(share: float) -> str:
    """0.0123 -> ``1.2 %``; small shares keep one figure: something is never 0."""
    number = share * 100
    if number != 0 and abs(number) < 0.1:
        figure = significant(number, 1)
    else:
        figure = f"{number:,.0f}" if abs(number) >= 100 else f"{number:.1f}"
    return f"{_with_minus(figure)} %"


def signed(ratio: float) -> str:
    """How far a ratio is from 1, in percent: 1.023 -> ``+2.3``, 0.997 -> ``−0.3``."""
    return _with_minus(f"{(ratio - 1) * 100:+.1f}")


def signed_count(number: float) -> str:
    """1234 -> ``+1,234``, -2 -> ``−2``."""
    return _with_minus(f"{number:+,.0f}")


def signed_size(number: int) -> str:
    """2048 -> ``+2 KiB``, -7 -> ``−7 B``."""
    if not number:
        return "0"
    return f"{'+' if number > 0 else '−'}{size(abs(number))}"


def tick_percent(share: float) -> str:
    """A tick of an axis is exact: 0.05 -> ``+5 %``, -0.025 -> ``−2.5 %``."""
    return f"{_with_minus(f'{share * 100:+.3g}')} %"


def change(ratio: float, more: str, less: str) -> str:
    """0.905 -> ``9.5 % less``; from a factor of 2 on in times: ``2.41x as much``, ``3.00x
    faster``."""
    if ratio >= TWICE:
        return factor_words(ratio, more)
    if ratio <= 1 / TWICE and (less != LESS or ratio < LEAST_SHARE):
        return factor_words(1 / ratio, less)
    return f"{percent(abs(ratio - 1))} {more if ratio > 1 else less}"


def ends(low: float, high: float) -> str:
    """An interval in a sentence: ``6.31 to 6.52``; ``6.31`` if both ends are written so."""
    return from_to(significant(low), significant(high))


def from_to(low: str, high: str) -> str:
    """``8.9 to 10.2``; ``8.9`` alone if both are the same text."""
    return low if low == high else f"{low} to {high}"


def _with_minus(number: str) -> str:
    return number.replace("-", "−")
