"""Which quantity of a comparison says how fast its subjects are."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.model import SIDE_BY_SIDE, Row

TIME = "wall_time"


def speed_quantity(rows: Sequence[Row]) -> str:
    """The time of separate processes. If that leaves a question that processes side by side answer,
    their processor time."""
    answered = {
        (*row.cell.setup, row.subject)
        for row in rows
        if row.quantity == SIDE_BY_SIDE and row.verdict != "cannot tell"
    }
    open_ = {
        (*row.cell.setup, row.subject)
        for row in rows
        if row.quantity == TIME and row.verdict == "cannot tell"
    }
    return SIDE_BY_SIDE if open_ & answered else TIME
