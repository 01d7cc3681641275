"""What the program asks of malloc: the sizes of its requests, and how many there are a second."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from heapwise.analysis.units import show
from heapwise.figures import sizes
from heapwise.model import Process
from heapwise.report.view import View

TITLE, ORDER = "What the program asks of malloc", 28

NAMES = {"malloc": "malloc", "calloc": "calloc", "realloc": "realloc", "aligned": "aligned",
         "free": "free"}
REQUESTS = ("malloc", "calloc", "realloc", "aligned")


def build(view: View) -> dict[str, Any] | None:
    """None where no process was counted, or it asked for nothing; experiments are no program."""
    if not view.is_compare:
        return None
    counted = [p for p in view.stored.processes if p.facts.get("counting")]
    facts: Mapping[str, Any] = counted[-1].facts if counted else {}
    counts, calls = facts.get("sizes") or [], facts.get("calls") or {}
    requests = sum(calls.get(name, 0) for name in REQUESTS)
    if not requests:
        return None
    name = Path(*view.stored.run.plan.command[:1]).name or "the program"
    return {
        "facts": _facts(counted[-1], requests),
        "calls": [(NAMES[k], f"{calls[k]:,}") for k in NAMES if calls.get(k)],
        "figure": Markup(sizes.draw(counts, f"Sizes that {name} asks for")) if any(counts) else "",
    }


def _facts(process: Process, requests: int) -> list[tuple[str, str]]:
    seconds = process.facts.get("plain_wall_s") or process.facts.get("counted_wall_s")
    asked = process.facts.get("bytes_requested")
    found = [("Requests", f"{requests:,}")]
    if seconds:
        found.append(("Requests a second", f"{_round(requests / seconds):,}"))
    if asked:
        found.append(("Asked for in all", show(asked, "bytes")))
        found.append(("Mean request", show(asked / requests, "bytes")))
    return found


def _round(value: float) -> int:
    """Three figures: the count is exact, the time is of one process."""
    return int(float(f"{value:.3g}"))
