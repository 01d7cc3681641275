"""Lines of text in columns."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence

LEAST_WIDTH, WIDTH = 40, 100

Line = list[str]

CI = "(95 % CI)"

UNBROKEN = ("time", "user", "system", "peak memory", "cgroup peak", "page faults")


def filled(lines: Sequence[Line]) -> list[Line]:
    """Without the columns that have no text at all."""
    has = {at for line in lines for at, text in enumerate(line) if text}
    return [[text for at, text in enumerate(line) if at in has] for line in lines]


def align(lines: Sequence[Line], figures: Collection[int] = ()) -> str:
    """Columns as wide as their widest cell, two spaces between. figures: the columns that are
    right-aligned; the others are left-aligned."""
    columns = max(len(line) for line in lines)
    widths = [
        max(
            (len(line[column]) for line in lines if column < len(line) and _counts(line, column)),
            default=0,
        )
        for column in range(columns)
    ]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in figures else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=False))
        ).rstrip()
        for line in lines
    )


def _counts(line: Line, column: int) -> bool:
    """A sentence in the last filled cell may run on without widening its column."""
    return any(line[column + 1 :]) or len(line[column]) < 30


def fitted(lines: Sequence[Line], width: int = 1000) -> str:
    """Columns as wide as they need to be, and folded where the terminal is too narrow."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for head in lines[0]:
        table.add_column(head, overflow="fold", no_wrap=head in UNBROKEN and not _sentences(lines))
    for line in lines[1:]:
        table.add_row(*map(Text, line))
    text = io.StringIO()
    Console(
        file=text, width=width, color_system=None, highlight=False, markup=False, emoji=False
    ).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def _sentences(lines: Sequence[Line]) -> bool:
    """Whether a row says why it has no figure."""
    return any(
        " " in word.strip() and len(word) > len("1,000 MiB")
        for line in lines[1:]
        for word in line[1:3]
        if " to " not in word
    )
