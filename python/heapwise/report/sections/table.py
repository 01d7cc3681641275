"""The table of a comparison: time and memory, absolute and relative, every sample as a dot."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.model import SIDE_BY_SIDE, Row
from heapwise.report.cells import Column, column
from heapwise.report.context import Context
from heapwise.report.view import Group, View

TITLE, ORDER = "Result", 20

FIRST = ("wall_time", SIDE_BY_SIDE, "peak_memory")


def build(view: View) -> Context | None:
    if not view.is_compare or not view.groups:
        return None
    cells = list(dict.fromkeys(group.parameters for group in view.groups))
    return {
        "tables": [_of_cell([g for g in view.groups if g.parameters == cell]) for cell in cells],
        "versions": {s.name: s.peer.version for s in view.run.plan.subjects if s.peer},
        "missing": view.run.missing_peers,
        "what": "program" if view.evidence.compares_builds else "allocator",
    }


@dataclass(frozen=True)
class _CellTable:
    """The rows of one cell: columns that are drawn, others that can be opened, and remarks."""

    title: str
    subjects: list[str]
    columns: list[Column]
    more: list[Column]
    noted: dict[str, str]


def _of_cell(groups: list[Group]) -> _CellTable:
    first = [g for name in FIRST for g in groups if g.quantity == name]
    rest = [g for g in groups if g.quantity not in FIRST and _tells(g.rows)]
    return _CellTable(
        title=str(groups[0].parameters),
        subjects=list(dict.fromkeys(row.subject for g in first or groups for row in g.rows)),
        columns=[column(g, with_strip=True) for g in first],
        more=[column(g, with_strip=False) for g in rest],
        noted=_noted(first),
    )


def _tells(rows: list[Row]) -> bool:
    """A quantity that is zero everywhere tells nothing."""
    return any(row.max for row in rows)


def _noted(groups: list[Group]) -> dict[str, str]:
    """Subject -> why it has no figure, or how its figures are weak."""
    found: dict[str, str] = {}
    for group in groups:
        for row in group.rows:
            if row.note and row.subject not in found:
                found[row.subject] = row.note
    return found
