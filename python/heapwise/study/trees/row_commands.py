"""How the rows of a program experiment were started and made."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.analysis.provenance import Provenance
from heapwise.document import TableCell, TextTable, table_cell


def commands_table(rows: Sequence[Provenance]) -> TextTable:
    """A line for each row; a column for the commands of a report if it has any."""
    is_published = any(row.published for row in rows)
    heads = ["row", "command here", "version", "built with", "remark"]
    if is_published:
        heads.insert(1, "command of the report")
    return TextTable(
        [table_cell(head) for head in heads],
        [_line(row, is_published=is_published) for row in rows],
    )


def _line(row: Provenance, *, is_published: bool) -> list[TableCell]:
    here = f"missing: {row.trouble}" if row.trouble else row.command
    return [
        table_cell(row.title),
        *([table_cell(row.published, is_code=True)] if is_published else []),
        table_cell(here, is_code=not row.trouble),
        table_cell(row.version),
        table_cell(row.build, is_code=True),
        table_cell(row.note),
    ]
