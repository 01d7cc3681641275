"""Text that is folded on a terminal, and stays one line elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TextIO

from heapwise.document.aligned import LEAST_WIDTH, WIDTH


def is_live(stream: TextIO) -> bool:
    """Whether a line may be rewritten in place."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def labelled(label: str, text: str) -> str:
    """On a terminal long text goes on under its beginning; elsewhere it stays one line."""
    if not is_live(sys.stdout):
        return label + text
    columns = shutil.get_terminal_size().columns
    return textwrap.fill(
        label + text,
        max(LEAST_WIDTH, min(WIDTH, columns - 1)),
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )
