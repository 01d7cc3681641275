"""How memory changed while a process went on, in words."""

from __future__ import annotations

from heapwise.wording.numbers import show


def growth_words(trend: str, per_hour: float, low: float | None, high: float | None) -> str:
    """``grows by 10.2 MiB an hour (9.1 to 11.4)``, ``level``, ``cannot tell``; bytes per hour."""
    if low is None or high is None:
        return trend
    interval = f"{_signed(low)} to {_signed(high)}"
    if trend in ("grows", "falls"):
        return f"{trend} by {show(abs(per_hour), 'bytes')} an hour ({interval})"
    return f"{trend} ({interval} an hour)"


def _signed(value: float) -> str:
    return ("−" if value < 0 else "") + show(abs(value), "bytes")
