"""CSV: one line per row with all its figures, the kept samples in the last column."""

from __future__ import annotations

import csv
import io

from heapwise.model import Row
from heapwise.report.view import View
from heapwise.report.words import cell_text

NAME, SUFFIX, MIME = "csv", "csv", "text/csv"
ABOUT = "one line per subject, cell and quantity; samples in the last column"

FIGURES = ("n", "min", "median", "mean", "max", "stddev", "ci_low", "ci_high", "ratio",
           "ratio_low", "ratio_high", "baseline", "verdict", "status", "note", "seed_value")


def write(view: View) -> str:
    stored, result = view.stored, view.result
    parameters = list(dict.fromkeys(
        name for row in result.rows for name in row.parameters))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", "experiment", "subject", *parameters, "quantity", "unit", "better",
                     *FIGURES, "values"])
    for row in result.rows:
        writer.writerow([stored.run.id, *_cells(row, parameters)])
    return text.getvalue()


def _cells(row: Row, parameters: list[str]) -> list[object]:
    figures = ["" if (value := getattr(row, name)) is None else value for name in FIGURES]
    names = [row.experiment, row.subject, *(row.parameters.get(name, "") for name in parameters),
             row.quantity, row.unit, row.better, *figures]
    return [*map(cell_text, names), " ".join(repr(value) for value in row.values)]
