"""SARIF 2.1.0 (OASIS): a rule for each limit, and a result for each row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import quote

from heapwise import __version__
from heapwise.evidence.judged_limits import OF_MALLOC
from heapwise.model import GateResult, GateRow, GrownSite
from heapwise.model.json_value import Json
from heapwise.study.gate.tell import amount_words
from heapwise.wording.numbers import show

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
        "id": f"limit/{row.title}",
        "shortDescription": {"text": _rule_words(row)},
    }


def _rule_words(row: GateRow) -> str:
    if row.absolute:
        return f"{row.metric} is at most {show(row.limit, row.unit)}"
    return f"{row.title} grows by at most {row.limit * 100:g} %"


def _location(gate: GateResult, grown: Sequence[GrownSite]) -> dict[str, Json]:
    """Code scanning refuses a document with a result that is in no file. If no line is known, the
    file is the program, seen from the top of its repository. grown: the call sites that the result
    is about, those with the most additional blocks first."""
    if grown and grown[0].file:
        place = _physical(grown[0].file, grown[0].line)
    else:
        place = _physical(gate.location or gate.program or "program", 1)
    return {
        "physicalLocation": place,
        "logicalLocations": [{"name": gate.program, "kind": "module"}],
    }


def _result(gate: GateResult, row: GateRow, place: int) -> dict[str, Json]:
    kind, level = KINDS[row.verdict]
    grown = gate.grown.sites if gate.grown and _is_of_sites(row) else []
    found: dict[str, Json] = {
        "ruleId": f"limit/{row.title}",
        "ruleIndex": place,
        "kind": kind,
        "level": level,
        "message": {"text": row.sentence},
        "locations": [_location(gate, grown)],
        "properties": {
            "change": row.change,
            "low": row.low,
            "high": row.high,
            "noise": row.noise,
            "run": gate.run,
        },
    }
    if grown:
        found["relatedLocations"] = [_site(site) for site in grown]
    return found


def _is_of_sites(row: GateRow) -> bool:
    return row.metric in OF_MALLOC and row.exact and row.verdict == "regressed"


def _site(site: GrownSite) -> dict[str, Json]:
    """A call site that allocates more. Its line is not known in each build."""
    found: dict[str, Json] = {
        "message": {"text": f"More by {amount_words(site)}: {site.name}"},
        "logicalLocations": [{"name": site.name, "kind": "function"}],
    }
    return found | {"physicalLocation": _physical(site.file, site.line)} if site.file else found


def _physical(file: str, line: int) -> dict[str, Json]:
    return {"artifactLocation": {"uri": quote(file)}, "region": {"startLine": line}}
