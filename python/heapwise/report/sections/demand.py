"""What the program asks of malloc: the sizes of its requests, and how many there are a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from heapwise.analysis.units import show
from heapwise.figures import sizes
from heapwise.model import ProcessFacts
from heapwise.report.view import View

TITLE, ORDER = "What the program asks of malloc", 28

NAMES = ("malloc", "calloc", "realloc", "aligned", "free")


def build(view: View) -> dict[str, Any] | None:
    """None where no process was counted, or it asked for nothing; experiments are no program."""
    if not view.is_compare:
        return None
    counted = [p.facts for p in view.stored.processes if p.facts.counting]
    calls = counted[-1].calls if counted else None
    if calls is None or not calls.requests:
        return None
    counts = counted[-1].sizes or []
    name = Path(*view.stored.run.plan.command[:1]).name or "the program"
    return {
        "facts": _facts(counted[-1], calls.requests),
        "calls": [(name, f"{number:,}") for name in NAMES if (number := getattr(calls, name))],
        "figure": Markup(sizes.draw(counts, f"Sizes that {name} asks for")) if any(counts) else "",
    }


def _facts(facts: ProcessFacts, requests: int) -> list[tuple[str, str]]:
    seconds = facts.plain_wall_s or facts.counted_wall_s
    asked = facts.bytes_requested
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
