"""A row against its baseline, in words, with the interval beside."""

from __future__ import annotations

from heapwise.model import PROCESSOR_TIME, Row
from heapwise.wording.numbers import (
    LEAST_SHARE,
    LESS,
    TIME_UNITS,
    TWICE,
    ends,
    factor_words,
    from_to,
    percent,
    signed,
)

SMALL = 1.05
"""Up to 5 % a factor has no figures left to show: then it is written in percent."""

SHOWN = 0.0005
"""The least share that one decimal of a percent shows."""


def relation(row: Row) -> str:
    """``3.1 % faster``, ``6.42x faster``, ``1.17x as much``, ``14.5 % less``,
    ``no difference``, ``baseline``: in the words and the terms of a sentence
    (``comparison.difference``)."""
    if row.baseline:
        return "baseline"
    if row.ratio is None:
        return row.note or row.status
    if row.verdict == "no difference":
        return f"no difference{_within(row)}"
    if row.verdict == "cannot tell":
        return "cannot tell yet"
    return difference_words(row.ratio, *_directions(row))


def difference_words(ratio: float, less: str, more: str) -> str:
    """Says a ratio that is not 1. less, more: what a smaller and what a larger number is called."""
    word = more if ratio > 1 else less
    if _is_in_percent(ratio, word):
        return f"{percent(abs(ratio - 1))} {word}"
    return factor_words(max(ratio, 1 / ratio) if ratio > 0 else 0.0, word)


def difference_ends(ratio: float, low: float, high: float, less: str, more: str) -> str:
    """The interval of ``difference_words``, in its own terms: ``8.9 to 10.2 %``, ``6.20 to
    6.50``."""
    if _is_in_percent(ratio, more if ratio > 1 else less):
        return percent_ends(low, high)
    return ends(low, high) if ratio > 1 else ends(1 / high, 1 / low)


def change_ends(ratio: float, low: float, high: float, less: str) -> str:
    """The interval of ``change``, in its own terms: ``8.9 to 10.2 %``, ``2.20 to 2.60``."""
    if ratio >= TWICE:
        return ends(low, high)
    if ratio <= 1 / TWICE and (less != LESS or ratio < LEAST_SHARE):
        return ends(1 / high, 1 / low)
    return percent_ends(low, high)


def _is_in_percent(ratio: float, word: str) -> bool:
    return 1 / SMALL < ratio < SMALL or (word == LESS and ratio >= LEAST_SHARE)


def _directions(row: Row) -> tuple[str, str]:
    """What a smaller and what a larger number means. Processor time is used up: a program that
    needs more of it is not slower."""
    if row.quantity != PROCESSOR_TIME and row.unit in TIME_UNITS:
        return "faster", "slower"
    return ("slower", "faster") if row.unit.endswith("/s") else ("less", "more")


def interval(row: Row) -> str:
    """The interval of ``relation``, in its own terms: ``8.9 to 10.2 %`` or ``6.20 to 6.50``."""
    if row.ratio is None or row.ratio_low is None or row.ratio_high is None:
        return ""
    if row.verdict in ("no difference", "cannot tell"):
        return signed_ends(row.ratio_low, row.ratio_high)
    return difference_ends(row.ratio, row.ratio_low, row.ratio_high, *_directions(row))


def signed_ends(low: float, high: float) -> str:
    """``−0.3 to +2.1 %``; ``+2.1 %`` if both ends are written so."""
    return f"{from_to(signed(low), signed(high))} %"


def percent_ends(low: float, high: float) -> str:
    """``8.9 to 10.2 %``: how far both ends are from 1, the nearer first; ``8.9 %`` if both ends
    are written so. With signs if they lie on both sides of it."""
    if low < 1 < high:
        return signed_ends(low, high)
    near, far = sorted(abs(end - 1) * 100 for end in (low, high))
    return f"{from_to(f'{near:.1f}', f'{far:.1f}')} %"


def with_interval(words: str, shown: str) -> str:
    """``8.3 % less (8.1 to 8.5 %)``. The words alone if the interval rounds to their own number:
    ``91.6 % less``."""
    return words if not shown or says(words, shown) else f"{words} ({shown})"


def says(words: str, shown: str) -> bool:
    """Whether an interval rounds to the number that these words begin with."""
    number = shown.removesuffix(" %")
    return words.startswith((f"{number} % ", f"{number}x "))


def _within(row: Row) -> str:
    if row.ratio_low is None or row.ratio_high is None:
        return ""
    width = max(abs(row.ratio_high - 1), abs(row.ratio_low - 1))
    return f" ±{percent(width)}" if width >= SHOWN else ""
