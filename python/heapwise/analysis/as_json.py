"""A result as plain dictionaries and lists: what ``--json`` prints."""

from __future__ import annotations

from typing import Any

import msgspec

from heapwise.model import Result


def to_json(result: Result) -> dict[str, Any]:
    """The fields of ``Result`` as keys: ``run``, ``rows``, ``trust``, ``advice`` and the others."""
    found: dict[str, Any] = msgspec.to_builtins(result)
    return found
