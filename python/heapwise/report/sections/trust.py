"""Every check, its verdict in words, its figures on demand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from markupsafe import Markup

from heapwise.report.context import Context
from heapwise.report.view import View

TITLE, ORDER = "Trust", 70

WORDS = {"pass": "passed", "warn": "warning", "fail": "failed", "unavailable": "unavailable"}


def build(view: View) -> Context | None:
    samples = view.evidence.filtered
    checks = [(c, WORDS[c.verdict], _figures(c.figures)) for c in view.result.trust.checks]
    before = [(c, f"before the run: {c.verdict}", "") for c in view.run.preflight if c.id != "V2"]
    return {
        "checks": [*checks, *before],
        "kept": len(samples.kept),
        "total": samples.total,
        "removed": sum(samples.removed.values()),
        "damaged": view.damaged_lines,
    }


def _figures(figures: Mapping[str, Any]) -> str:
    """JSON for readers: a line for each figure and each record, four digits; "" without any."""
    if not figures:
        return ""
    lines = []
    for name, value in figures.items():
        records = value if isinstance(value, list) and value and isinstance(value[0], dict) else []
        text = ",\n  ".join(map(_line, records)).join(("[\n  ", "]")) if records else _line(value)
        lines.append(f" {_line(name)}: {text}")
    return Markup(escape(",\n".join(lines).join(("{\n", "\n}")), quote=False))


def _line(value: Any) -> str:
    return json.dumps(_rounded(value), default=str, ensure_ascii=False)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
