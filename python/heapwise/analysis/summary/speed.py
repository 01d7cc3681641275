"""Which quantity of a comparison says how fast its subjects are."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.model import SIDE_BY_SIDE, Row

TIME = "wall_time"


def speed_quantity(rows: Sequence[Row]) -> str:
    """The time of separate processes. If that leaves a question that processes side by side answer,
    or a subject has no other figure, their processor time."""
    beside = {
        (*row.cell.setup, row.subject) for row in rows if row.quantity == SIDE_BY_SIDE and row.n
    }
    timed = {(*row.cell.setup, row.subject) for row in rows if row.quantity == TIME and row.n}
    if beside - timed:
        return SIDE_BY_SIDE
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
