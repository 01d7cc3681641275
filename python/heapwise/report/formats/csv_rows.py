"""CSV: one line per row with all its figures, the kept samples in the last column.

The script of a report writes the same bytes from the JSON that is in the page: what changes here
has to change in ``templates/script.js``.
"""

from __future__ import annotations

from decimal import Decimal
from math import isfinite

from heapwise.document.spreadsheet import cell_text
from heapwise.model import Row
from heapwise.report.view import View

NAME, SUFFIX, MIME = "csv", "csv", "text/csv"
ABOUT = "one line per subject, cell and quantity; samples in the last column"

FIGURES = (
    "n",
    "min",
    "median",
    "mean",
    "max",
    "stddev",
    "ci_low",
    "ci_high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "baseline",
    "verdict",
    "status",
    "note",
    "published_value",
)

MOST_DIGITS, MOST_ZEROS = 21, 6
"""Before and after the point, until a number is written with an exponent."""


def write(view: View) -> str:
    parameters = parameters_of(view)
    lines = [
        [
            "run",
            "experiment",
            "subject",
            *parameters,
            "quantity",
            "unit",
            "better",
            *FIGURES,
            "values",
        ]
    ]
    lines += [[view.run.id, *_cells(row, parameters)] for row in view.result.rows]
    return "".join(",".join(map(_quoted, line)) + "\n" for line in lines)


def parameters_of(view: View) -> list[str]:
    """The names of all parameters, each of which is a column."""
    return list(dict.fromkeys(name for row in view.result.rows for name in row.parameters))


def number_text(value: float) -> str:
    """The shortest digits that give the same number again, written as JavaScript writes them."""
    if not isfinite(value) or value == 0:
        return "0" if value == 0 else ""
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)
    if 0 < point <= MOST_DIGITS:
        text = text.ljust(point, "0")
        text = text[:point] + ("." + text[point:] if text[point:] else "")
    elif -MOST_ZEROS < point <= 0:
        text = f"0.{'0' * -point}{text}"
    else:
        text = f"{text[0]}{'.' if text[1:] else ''}{text[1:]}e{point - 1:+d}"
    return f"-{text}" if sign else text


def _cells(row: Row, parameters: list[str]) -> list[str]:
    found = [
        row.experiment,
        row.subject,
        *(row.parameters.get(name) for name in parameters),
        row.quantity,
        row.unit,
        row.better,
        *(getattr(row, name) for name in FIGURES),
    ]
    return [*map(_text, found), " ".join(map(number_text, row.values))]


def _text(value: object) -> str:
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1000:
        return number_text(float(value))
    return "" if value is None else str(cell_text(value))


def _quoted(text: str) -> str:
    if not any(character in text for character in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'
