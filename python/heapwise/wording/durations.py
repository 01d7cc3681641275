"""Durations as people write and read them."""

from __future__ import annotations

import re
from math import ceil

from heapwise.errors import Problem

LONGEST_S = 366 * 24 * 3600.0
LONG_S = 600.0
UNITS_S = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def parse_duration(text: str, option: str) -> float:
    """``90``, ``90s``, ``1.5m``, ``2h`` and ``1m30s`` in seconds. Problem E003 otherwise."""
    parts = re.findall(r"([\d.]+)\s*(ms|min|s|m|h|)", text.strip())
    whole = "".join(f"{number}{unit}" for number, unit in parts)
    try:
        seconds = sum(float(number) * UNITS_S[unit] for number, unit in parts)
    except ValueError:
        seconds = -1.0
    if not parts or whole != text.replace(" ", "") or seconds <= 0:
        raise Problem("E003", f"{option} {text} is not a duration", do="write 90s, 3m or 1h30m")
    if seconds > LONGEST_S:
        raise Problem("E003", f"{option} {text} is longer than a year", do="write 90s, 3m or 1h30m")
    return seconds


def show_duration(seconds: float) -> str:
    """``0:52``, ``12:05`` or ``1:00:00``."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def show_limit(seconds: float) -> str:
    """``10 s``, ``3 min`` or ``2 min 30 s``: what somebody asked for, nothing rounded away."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    minutes, left = divmod(round(seconds), 60)
    parts = [f"{minutes} min"] if minutes else []
    return " ".join([*parts, f"{left} s"] if left or not minutes else parts)


def typed_duration(seconds: float) -> str:
    """``16s`` or ``10m``: what ``parse_duration`` reads, not shorter than this."""
    return f"{ceil(seconds)}s" if seconds < 120 else f"{ceil(seconds / 60)}m"


def longer_duration(*seconds: float) -> str:
    """What to give as --time after these: twice the longest, and at least ten minutes."""
    return typed_duration(max(LONG_S, 2 * max(seconds)))


def cost(seconds: float) -> str:
    """``about 3 min``: for a plan, where more figures would be a pretence."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
