"""Old ``run.json`` files, brought up to date on reading; the file itself is left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from heapwise.errors import Problem
from heapwise.model import SCHEMA_VERSION

Document = dict[str, Any]


def _from_0(document: Document) -> Document:
    """Schema 0 (before the first release) had no record of peers that were missing."""
    return {"preflight": [], "missing_peers": [], **document, "schema": 1}


STEPS: dict[int, Callable[[Document], Document]] = {0: _from_0}
"""Each step takes a document of the schema that is its key to the next one."""


def migrate(document: Document, what: str) -> Document:
    """The document in today's schema. Problem E060 for a newer one, E061 for none at all."""
    schema = document.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 0:
        raise Problem("E061", f"{what} says no schema version")
    if schema > SCHEMA_VERSION:
        raise Problem(
            "E060", f"{what} has schema {schema}; this heapwise knows up to {SCHEMA_VERSION}"
        )
    while schema < SCHEMA_VERSION:
        document = STEPS[schema](document)
        schema = document["schema"]
    return document
