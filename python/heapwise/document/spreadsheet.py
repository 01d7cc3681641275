"""Values for programs that compute what a cell begins with."""

from __future__ import annotations

from heapwise.wording.visible import visible

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet computes."""


def cell_text(value: object) -> object:
    """Names come from files that others made: in a table of values they must stay text."""
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if value.startswith(FORMULA) else visible(value)
