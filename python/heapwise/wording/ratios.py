"""How a row is said: in the field's words, with the interval beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heapwise.model import Row
from heapwise.wording.numbers import TIME_UNITS, significant

NAMES = {
    "wall_time": "time", "cpu_time": "CPU time", "peak_memory": "peak memory",
    "minor_faults": "minor page faults", "major_faults": "major page faults",
    "voluntary_switches": "voluntary context switches",
    "involuntary_switches": "involuntary context switches",
}
TWICE = 2.0


def quantity_name(quantity: str) -> str:
    return NAMES.get(quantity, quantity.replace("_", " "))


def cell_words(parameters: Mapping[str, Any]) -> str:
    """``block size 64, iterations 1,000,000``."""
    return ", ".join(f"{name.replace('_', ' ')} {value:,}" if isinstance(value, int)
                     else f"{name.replace('_', ' ')} {value}"
                     for name, value in parameters.items())


def relation(row: Row) -> str:
    """``9.5 % faster``, ``6.4x faster``, ``7.3 % more``, ``no difference``, ``-``."""
    if row.baseline:
        return "baseline"
    if row.ratio is None:
        return row.note or row.status
    if row.verdict == "no difference":
        return f"no difference{_within(row)}"
    if row.verdict == "cannot tell":
        return "cannot tell yet"
    less, more = _pair(row)
    return _amount(row.ratio, less, more)


def interval(row: Row) -> str:
    """The interval of ``relation``, in its own terms: ``8.9 to 10.2 %`` or ``6.2 to 6.5``."""
    if row.ratio is None or row.ratio_low is None or row.ratio_high is None:
        return ""
    if row.verdict in ("no difference", "cannot tell"):
        return f"{_signed(row.ratio_low)} to {_signed(row.ratio_high)} %"
    if row.ratio >= TWICE:
        return f"{significant(row.ratio_low)} to {significant(row.ratio_high)}"
    if row.ratio <= 1 / TWICE:
        return f"{significant(1 / row.ratio_high)} to {significant(1 / row.ratio_low)}"
    ends = sorted(abs(end - 1) * 100 for end in (row.ratio_low, row.ratio_high))
    return f"{ends[0]:.1f} to {ends[1]:.1f} %"


def _pair(row: Row) -> tuple[str, str]:
    if row.unit in TIME_UNITS:
        return "faster", "slower"
    return "less", "more"


def _amount(ratio: float, less: str, more: str) -> str:
    if ratio >= TWICE:
        return f"{significant(ratio)}× {more}"
    if ratio <= 1 / TWICE:
        return f"{significant(1 / ratio)}× {less}"
    share = f"{abs(ratio - 1) * 100:.1f} %"
    return f"{share} {more if ratio > 1 else less}"


def _within(row: Row) -> str:
    if row.ratio_low is None or row.ratio_high is None:
        return ""
    width = max(abs(row.ratio_high - 1), abs(row.ratio_low - 1)) * 100
    return f" ±{width:.1f} %" if width >= 0.05 else ""


def _signed(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f}".replace("-", "−")


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet computes."""


def cell_text(value: object) -> object:
    """Names come from files that others made: in a table of values they must stay text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
