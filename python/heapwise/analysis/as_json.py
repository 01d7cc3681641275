"""A result as plain dictionaries and lists: what ``--json`` prints."""

from __future__ import annotations

from typing import Any

import msgspec

from heapwise.model import Result
from heapwise.model.json_value import Json

WITH_CELL = ("rows", "findings")


def to_json(result: Result) -> dict[str, Json]:
    """The fields of ``Result`` as keys: ``run``, ``rows``, ``trust``, ``advice`` and the others."""
    return flat(result, *WITH_CELL)


def flat(document: Any, *with_cell: str) -> dict[str, Json]:
    """The fields as keys; ``experiment`` and ``parameters`` stand for the cell of each record in
    the lists that are named."""
    found: dict[str, Any] = msgspec.to_builtins(document, enc_hook=dict)
    return found | {name: [_flat(record) for record in found[name]] for name in with_cell}


def _flat(record: dict[str, Any]) -> dict[str, Json]:
    """``experiment`` and ``parameters``, with ``quantity`` among them, for ``cell``."""
    flat: dict[str, Json] = {}
    for name, value in record.items():
        if name == "cell":
            parameters = {**value["parameters"], "quantity": value["quantity"]}
            flat |= {"experiment": value["experiment"], "parameters": parameters}
        else:
            flat[name] = value
    return flat
