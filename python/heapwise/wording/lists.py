"""Numbers and lists as a sentence has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def percent(share: float) -> str:
    """0.0123 -> ``1.2 %``; small shares keep one figure."""
    number = share * 100
    if number != 0 and abs(number) < 0.1:
        return f"{number:.1g} %"
    return f"{number:.1f} %" if abs(number) < 10 else f"{number:.0f} %"


def counted(n: int, noun: str, plural: str = "") -> str:
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def listed(names: Iterable[str], at_most: int = 3) -> str:
    """``a, b, c and 3 more``."""
    every: Sequence[str] = list(dict.fromkeys(names))
    if len(every) <= at_most:
        return ", ".join(every)
    return f"{', '.join(every[:at_most])} and {len(every) - at_most} more"
