"""Lines that fit: passages for a terminal or for 80 columns."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence

from heapwise.document import Heading, Labelled, Notice, Passage, with_content
from heapwise.document.terminal import terminal

LABEL = 10
"""Columns of a label."""

LEAST, MOST = 40, 120


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


def shown(passages: Sequence[Passage]) -> Iterator[str]:
    """Entries stand in boxes; all else but a notice has an empty line above it."""
    above: Passage | None = None
    for block in with_content(passages):
        both = isinstance(block, Labelled) and isinstance(above, Labelled)
        if above and not both and not isinstance(above, Heading) and not isinstance(block, Notice):
            yield ""
        if isinstance(block, Labelled):
            yield from boxed(block.label, block.text)
        elif isinstance(block, Notice):
            yield from textwrap.wrap(block.text, width(), break_on_hyphens=False)
        else:
            yield from terminal([block], width()).splitlines()
        above = block
