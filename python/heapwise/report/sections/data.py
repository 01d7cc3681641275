"""All the data, inside the file: buttons write it out again.

The page holds the JSON and the words of the Markdown, compressed. The CSV is made of the JSON.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode

from heapwise.report.context import Context
from heapwise.report.formats import csv_rows, json_result, markdown
from heapwise.report.view import View

TITLE, ORDER = "Data", 90


def build(view: View) -> Context | None:
    run = view.run.id
    columns = {"run": run, "parameters": csv_rows.parameters_of(view), "figures": csv_rows.FIGURES}
    return {
        "packed": {form.NAME: pack(form.write(view)) for form in (json_result, markdown)},
        "columns": json.dumps(columns),
        "files": [
            {
                "name": f"heapwise-{run}.{form.SUFFIX}",
                "label": label,
                "type": form.MIME,
                "source": source,
                "made": form is csv_rows,
            }
            for form, label, source in (
                (csv_rows, "CSV", json_result.NAME),
                (json_result, "JSON", json_result.NAME),
                (markdown, "Markdown", markdown.NAME),
            )
        ],
    }


def pack(text: str) -> str:
    """What ``unpack`` of the page's script reads: zlib's format, as base64."""
    return b64encode(zlib.compress(text.encode(), 9)).decode()
