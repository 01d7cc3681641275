"""How many times the live bytes of a program its memory is, under each allocator."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.document import TextTable, plain_table
from heapwise.model import Row
from heapwise.wording.numbers import show

LEAST_LIVE = 1 << 20
"""Bytes. Below, nearly all memory of a process is code, stacks and the C library's own."""


ABOUT = (
    "Peak memory over live bytes. Live is what the program had allocated and not freed at its "
    "peak, as the baseline rounds sizes up. Peak memory also has code, stacks and mapped files, "
    "so 1 cannot be reached."
)


def over_live(rows: Sequence[Row], live: int | None) -> list[TextTable]:
    """rows: of the peak memory of a process. Empty if the peak of live bytes is unknown or
    small."""
    if live is None or live < LEAST_LIVE:
        return []
    lines = [
        [row.subject, show(row.median, row.unit), _ratio(row, live)]
        for row in rows
        if row.median is not None
    ]
    return (
        [plain_table([["allocator", "peak memory", "over live"], *lines], ABOUT)] if lines else []
    )


def _ratio(row: Row, live: int) -> str:
    """With the interval of the median."""
    assert row.median is not None
    middle = f"{row.median / live:.2f}"
    if row.ci_low is None or row.ci_high is None:
        return middle
    return f"{middle} ({row.ci_low / live:.2f} to {row.ci_high / live:.2f})"
