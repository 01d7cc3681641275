"""A fleet run by machine: a table for each subject and quantity."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.document import (
    Heading,
    Labelled,
    Notice,
    Passage,
    SentenceList,
    TableCell,
    TextTable,
    plain_cells,
    table_cell,
)
from heapwise.model.by_machine import ByMachine, MachineRow

ABOUT = (
    "No comparison spans two machines. A ratio is subject over baseline with its 95 % interval; "
    "below 1 the subject needs less. A mean is given only among at least three machines of one "
    "kind (random effects, Hartung and Knapp)."
)

HEADS = ("machine", "ratio", "95 % CI", "verdict", "trust", "kind")

OF_MACHINES = ("processor", "cores", "kernel", "C library")
"""Heads for which a terminal has no room."""


def machine_passages(
    tables: Sequence[ByMachine], failed: Sequence[tuple[str, str]]
) -> list[Passage]:
    """failed: (machine, why) without a result."""
    passages: list[Passage] = [Notice(ABOUT if tables else "")]
    for table in tables:
        said = [
            f"Machines of kind {mean.kind} ({mean.machines}): mean ratio {mean.ratio:.3f} "
            f"(95 % CI {mean.low:.3f} to {mean.high:.3f})."
            for mean in table.means
        ]
        if table.split:
            words = "The machines where it is better differ from those where it is worse in"
            said.append(f"{words}: {', '.join(table.split)}.")
        head = plain_cells(HEADS) + [table_cell(word, "") for word in OF_MACHINES]
        passages += [
            Heading(f"{table.quantity}: {table.sentence}"),
            SentenceList(said),
            TextTable(head, [_line(row) for row in table.rows]),
        ]
    passages += [Labelled("Failed", f"{name}: {why}", folds=False) for name, why in failed]
    return passages


def _line(row: MachineRow) -> list[TableCell]:
    ends = "–" if row.low is None or row.high is None else f"{row.low:.3f} to {row.high:.3f}"
    ratio = "not measured" if row.ratio is None else f"{row.ratio:.3f}"
    machine = (row.cpu, str(row.cores), row.kernel, row.libc)
    shown = (row.machine, ratio, ends, row.verdict, row.trust, row.kind)
    return plain_cells(shown) + [table_cell(word, "") for word in machine]
