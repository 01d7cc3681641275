"""Things as a sentence counts and lists them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def counted(n: int, noun: str, plural: str = "") -> str:
    """``1 process``, ``1,200 processes``."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def either(names: Sequence[str]) -> str:
    """``a, b or c``."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def listed(names: Iterable[str], at_most: int = 3) -> str:
    """``a, b, c and 3 more``."""
    every: Sequence[str] = list(dict.fromkeys(names))
    if len(every) <= at_most:
        return ", ".join(every)
    return f"{', '.join(every[:at_most])} and {len(every) - at_most} more"
