"""Values for programs that compute what a cell begins with."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet computes."""


def cell_text(value: object) -> object:
    """Names come from files that others made: in a table of values they must stay text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
