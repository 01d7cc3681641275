"""How the rows of a program experiment were started and made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heapwise.analysis.provenance import Provenance
from heapwise.document import TableCell, TextOrCell, TextTable, column_table, table_cell


def commands_table(rows: Sequence[Provenance]) -> TextTable:
    """A line for each row; a column for the commands of a report if it has any."""
    published = "command of the report" if any(row.published for row in rows) else ""
    columns: dict[str, Callable[[Provenance], TextOrCell]] = {
        "row": lambda row: row.title,
        published: lambda row: table_cell(row.published, is_code=True),
        "command here": _command,
        "version": lambda row: row.version,
        "built with": lambda row: table_cell(row.build, is_code=True),
        "remark": lambda row: row.note,
    }
    return column_table(columns, rows)


def _command(row: Provenance) -> TableCell:
    here = f"missing: {row.trouble}" if row.trouble else row.command
    return table_cell(here, is_code=not row.trouble)
