"""How the rows of a program experiment were started and made, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.analysis.provenance import Provenance
from heapwise.document.markdown import table


def programs_table(rows: Sequence[Provenance]) -> list[str]:
    """A line for each row; a column for the commands of a report if it has any."""
    is_published = any(row.published for row in rows)
    head = [
        "row",
        *(["command of the report"] if is_published else []),
        "command here",
        "version",
        "built with",
        "remark",
    ]
    return table(
        head,
        [
            [
                row.title,
                *([_code(row.published)] if is_published else []),
                f"missing: {row.trouble}" if row.trouble else _code(row.command),
                row.version,
                _code(row.build),
                row.note,
            ]
            for row in rows
        ],
    )


def _code(words: str) -> str:
    return f"`{words}`" if words else ""
