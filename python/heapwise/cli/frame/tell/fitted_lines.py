"""Lines that fit: labelled paragraphs and names of functions, for a terminal or for 80 columns."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator

from heapwise.trace.names.wrappers import bare_name

LABEL = 10
"""Columns of a label."""

LEAST, MOST = 40, 120

LEAST_NAME = 10
"""Columns of a function beside its line."""


def width() -> int:
    """The width of the terminal; 80 where there is none. COLUMNS in the environment decides before
    both."""
    return max(LEAST, min(MOST, shutil.get_terminal_size((80, 24)).columns))


def boxed(label: str, text: str) -> Iterator[str]:
    """The text beside its label, folded. A path or a command is not torn apart."""
    yield from textwrap.fill(
        text,
        width(),
        initial_indent=label.ljust(LABEL),
        subsequent_indent=" " * LABEL,
        break_long_words=False,
        break_on_hyphens=False,
    ).splitlines()


def shortened(name: str, most: int) -> str:
    """The whole name if it fits, else without arguments, else its begin and its end."""
    if len(name) <= most:
        return name
    function, bracket, line = name.rpartition(" (")
    if bracket and line.endswith(")"):
        # The line is what users look for: it stays whole as long as there is room for it.
        brief = bare_name(function) or function
        room = most - len(line) - 2
        if room >= LEAST_NAME:
            return f"{_cut(brief, room)} ({line}"
    return _cut(bare_name(name) or name, most)


def _cut(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    end = most // 2
    return f"{name[: most - end - 3]}...{name[len(name) - end :]}"
