"""SARIF 2.1.0 (OASIS): a rule for each limit, and a result for each row."""

from __future__ import annotations

import json
from urllib.parse import quote

from heapwise import __version__
from heapwise.model import GateResult, GateRow
from heapwise.model.json_value import Json

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

KINDS = {
    "regressed": ("fail", "error"),
    "cannot tell": ("review", "none"),
    "fine": ("pass", "none"),
}
"""Verdict -> kind and level: only a failure has a level."""


def write(gate: GateResult) -> str:
    driver = {
        "name": "heapwise",
        "semanticVersion": __version__,
        "rules": [_rule(row) for row in gate.rows],
    }
    run = {
        "tool": {"driver": driver},
        "results": [_result(gate, row, place) for place, row in enumerate(gate.rows)],
        "columnKind": "unicodeCodePoints",
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _rule(row: GateRow) -> dict[str, Json]:
    return {
        "id": f"limit/{row.metric}",
        "shortDescription": {"text": f"{row.metric} grows by at most {row.limit * 100:g} %"},
    }


def _location(gate: GateResult) -> dict[str, Json]:
    """Code scanning refuses a document with a result that is in no file. Nobody knows which line
    made the program slower, so the file is the program, seen from the top of its repository."""
    file = gate.location or gate.program or "program"
    return {
        "physicalLocation": {"artifactLocation": {"uri": quote(file)}, "region": {"startLine": 1}},
        "logicalLocations": [{"name": gate.program, "kind": "module"}],
    }


def _result(gate: GateResult, row: GateRow, place: int) -> dict[str, Json]:
    kind, level = KINDS[row.verdict]
    return {
        "ruleId": f"limit/{row.metric}",
        "ruleIndex": place,
        "kind": kind,
        "level": level,
        "message": {"text": row.sentence},
        "locations": [_location(gate)],
        "properties": {
            "change": row.change,
            "low": row.low,
            "high": row.high,
            "noise": row.noise,
            "run": gate.run,
        },
    }
