"""All the data, inside the file: buttons write it out again."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup

from heapwise.report.formats import find_formats
from heapwise.report.view import View

TITLE, ORDER = "Data", 90

OFFERED = ("csv", "json", "markdown")


def build(view: View) -> dict[str, Any] | None:
    formats = find_formats()
    return {"files": [
        {"name": f"heapwise-{view.stored.run.id}.{formats[name].SUFFIX}", "label": label,
         "type": formats[name].MIME, "text": embed(formats[name].write(view))}
        for name, label in zip(OFFERED, ("CSV", "JSON", "Markdown"), strict=True)]}


def embed(text: str) -> Markup:
    """Text as the content of a script element: no ``<`` can end it or open a comment."""
    return Markup(json.dumps(text).replace("<", "\\u003c").replace("\u2028", "\\u2028")
                  .replace("\u2029", "\\u2029"))
