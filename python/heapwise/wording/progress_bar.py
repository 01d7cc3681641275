"""A bar of letters. It stands apart, so that to read a file loads nothing that measures."""

from __future__ import annotations

BAR = 20


def bar(share: float) -> str:
    """``########------------``."""
    full = round(share * BAR)
    return "#" * full + "-" * (BAR - full)
