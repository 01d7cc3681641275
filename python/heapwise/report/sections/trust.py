"""Every check, its verdict in words, its figures on demand."""

from __future__ import annotations

import json
from typing import Any

from heapwise.report.view import View

TITLE, ORDER = "Trust", 70

WORDS = {"pass": "passed", "warn": "warning", "fail": "failed", "unavailable": "unavailable"}


def build(view: View) -> dict[str, Any] | None:
    sifted = view.evidence.sieve
    return {
        "checks": [(check, WORDS[check.verdict], json.dumps(check.figures, indent=1, default=str))
                   for check in view.result.trust.checks],
        "preflight": [c for c in view.stored.run.preflight if c.id != "V2"],
        "kept": len(sifted.kept), "of": sifted.of, "removed": sum(sifted.removed.values()),
        "damaged": view.stored.damaged_lines,
    }
