"""Lines that fit: labelled paragraphs and names of functions, for a terminal or for 80 columns."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator

LABEL = 10
"""Columns of a label."""

LEAST, MOST = 40, 120


def width() -> int:
    """Of the terminal; 80 where there is none. COLUMNS in the environment decides before both."""
    return max(LEAST, min(MOST, shutil.get_terminal_size((80, 24)).columns))


def boxed(label: str, text: str) -> Iterator[str]:
    """The text beside its label, folded. A path or a command is not torn apart."""
    yield from textwrap.fill(
        text, width(), initial_indent=label.ljust(LABEL), subsequent_indent=" " * LABEL,
        break_long_words=False, break_on_hyphens=False).splitlines()


def shortened(name: str, most: int) -> str:
    """Its begin and its end: a demangled name differs from its like in either."""
    if len(name) <= most:
        return name
    end = most // 3
    return f"{name[:most - end - 3]}...{name[len(name) - end:]}"
