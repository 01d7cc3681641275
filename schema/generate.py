"""Writes the ``*.schema.json`` beside this file from ``heapwise.model`` and ``heapwise.trace``.

A test compares them.

    python schema/generate.py            writes them
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from heapwise.model import Difference, Experiment, Peer, Process, Result, Run, Sample, Settings
from heapwise.trace.document import TraceDocument
from heapwise.trace.heap_profile import HeapProfileDocument
from heapwise.trace.profile_document import ProfileDocument
from heapwise.trace.trace_difference import TraceDifference

HERE = Path(__file__).resolve().parent

DOCUMENTS: dict[str, Any] = {
    "experiment": Experiment,
    "peer": Peer,
    "run": Run,
    "sample": Process | Sample,
    "result": Result,
    "difference": Difference,
    "trace": TraceDocument,
    "profile": ProfileDocument,
    "trace_difference": TraceDifference,
    "heap_profile": HeapProfileDocument,
}
"""``sample`` is one line of samples.jsonl, ``result`` what ``--json`` prints, and
``difference`` what ``diff --json`` prints; ``trace``, ``profile`` and ``heap_profile`` are what
``trace --json`` prints of such a file, ``trace_difference`` what it prints of two traces."""


def schema_of(name: str) -> dict[str, Any]:
    """JSON Schema 2020-12 of one kind of document. Keys that it does not name are allowed."""
    kind = DOCUMENTS[name]
    if name == "sample":
        (process, sample), parts = msgspec.json.schema_components(
            [Process, Sample], ref_template="#/$defs/{name}"
        )
        body: dict[str, Any] = {"oneOf": [process, sample], "$defs": parts}
    else:
        body = msgspec.json.schema(kind, schema_hook=_settings)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"heapwise {name}",
        **_plain(_flat_cells(_tell_apart(body))),
    }


def _tell_apart(body: dict[str, Any]) -> dict[str, Any]:
    """``kind`` has a default in the model, but is always written: then it decides the branch."""
    for name in ("Process", "Sample"):
        part = body.get("$defs", {}).get(name)
        if part and "kind" in part["properties"]:
            part["required"] = sorted({*part.get("required", []), "kind"})
    return body


def _settings(kind: type) -> dict[str, Any]:
    if kind is not Settings:
        raise NotImplementedError
    return {"type": "object"}


def _flat_cells(body: dict[str, Any]) -> dict[str, Any]:
    """As ``to_json`` writes rows and findings: ``experiment`` and ``parameters`` for a cell."""
    parts = body.get("$defs", {})
    if parts.pop("Cell", None):
        for part in parts.values():
            if part.get("properties", {}).get("cell") == {"$ref": "#/$defs/Cell"}:
                del part["properties"]["cell"]
                part["properties"] |= {
                    "experiment": {"type": "string"},
                    "parameters": {"type": "object"},
                }
                at = part["required"].index("cell")
                part["required"][at : at + 1] = ["experiment", "parameters"]
    return body


def _plain(value: Any) -> Any:
    """Docstrings as one line: how Python keeps their indentation depends on its version."""
    if isinstance(value, dict):
        return {
            key: " ".join(inner.split())
            if key == "description" and isinstance(inner, str)
            else _plain(inner)
            for key, inner in value.items()
        }
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def text_of(name: str) -> str:
    return json.dumps(schema_of(name), indent=2, sort_keys=True) + "\n"


def main() -> None:
    for name in DOCUMENTS:
        (HERE / f"{name}.schema.json").write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
