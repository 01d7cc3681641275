"""The limits of a gate, and what came of each."""

from __future__ import annotations

from typing import Any

from heapwise.report.view import View

TITLE, ORDER = "Limits", 11

COLOURS = {"fine": "better", "regressed": "worse", "cannot tell": "unsure"}


def build(view: View) -> dict[str, Any] | None:
    if view.result.gate is None:
        return None
    return {"gate": view.result.gate, "colours": COLOURS}
