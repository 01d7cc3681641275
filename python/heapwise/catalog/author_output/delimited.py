"""A table with tabs, commas or semicolons between columns, and their names in the first line."""

from __future__ import annotations

import csv
import io

from heapwise.catalog.author_output.damaged import DamagedOutput, number_of

DELIMITERS = "\t,;"
COMMENT = "#"


def is_form(text: str) -> bool:
    return bool(_delimiter(text))


def records(text: str) -> list[dict[str, float | str]]:
    """One for each line below the names. Empty lines, and those that begin with #, are passed
    over. DamagedOutput for a line that has more or fewer cells than there are names."""
    reader = csv.reader(io.StringIO(text), delimiter=_delimiter(text))
    names: list[str] = []
    found: list[dict[str, float | str]] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells) or cells[0].startswith(COMMENT):
                continue
            if not names:
                names = _names(cells, reader.line_num)
                continue
            if len(cells) != len(names):
                reason = f"it has {len(cells)} cells, and the table has {len(names)} columns"
                raise DamagedOutput(reader.line_num, reason)
            found.append({name: _cell(cell) for name, cell in zip(names, cells, strict=True)})
    except csv.Error as error:
        raise DamagedOutput(reader.line_num, str(error)) from error
    if not found:
        raise DamagedOutput(reader.line_num, "the table has no line below the names of its columns")
    return found


def _names(cells: list[str], line: int) -> list[str]:
    names = [cell.strip() for cell in cells]
    if "" in names or len(set(names)) < len(names):
        raise DamagedOutput(line, "each column needs a name of its own in the first line")
    if all(number_of(name) is not None for name in names):
        raise DamagedOutput(line, "the first line has numbers, and not the names of the columns")
    return names


def _cell(text: str) -> float | str:
    number = number_of(text)
    return text.strip() if number is None else number


def _delimiter(text: str) -> str:
    """The one of the line with the names; "" if it has none."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith(COMMENT))
    first = next(lines, "")
    return max(DELIMITERS, key=first.count) if any(map(first.count, DELIMITERS)) else ""
