"""Old ``run.json`` files, brought up to date on reading; the file itself is left alone."""

from __future__ import annotations

from collections.abc import Callable

from heapwise.errors import Problem
from heapwise.model import SCHEMA_VERSION
from heapwise.model.json_value import Json

Document = dict[str, Json]


STEPS: dict[int, Callable[[Document], Document]] = {}
"""Each step takes a document of the schema that is its key to the next one. The first released
schema is 1."""


def migrate(document: Document, what: str) -> Document:
    """The document in today's schema. Problem E060 for a newer one, E061 for none at all."""
    schema = document.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise Problem("E061", f"{what} says no schema version")
    if schema > SCHEMA_VERSION:
        raise Problem(
            "E060", f"{what} has schema {schema}; this heapwise knows up to {SCHEMA_VERSION}"
        )
    for step in range(schema, SCHEMA_VERSION):
        document = STEPS[step](document)
    return document
