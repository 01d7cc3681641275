"""What the program asks of malloc: the sizes of its requests, and how many there are a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from heapwise.evidence.demand import Demand, counted_facts
from heapwise.figures import sizes
from heapwise.report.view import View
from heapwise.wording.numbers import show

TITLE, ORDER = "What the program asks of malloc", 28

NAMES = ("malloc", "calloc", "realloc", "aligned", "free")


def build(view: View) -> dict[str, Any] | None:
    """None where no process was counted, or it asked for nothing; experiments are no program."""
    if not view.is_compare:
        return None
    demand = view.evidence.demand
    if demand is None or not demand.requests:
        return None
    facts = counted_facts(view.stored, view.evidence.labels)
    assert facts is not None
    calls, counts = facts.calls, facts.sizes or []
    name = Path(*view.stored.run.plan.command[:1]).name or "the program"
    return {
        "facts": _facts(demand),
        "calls": [(name, f"{number:,}") for name in NAMES if (number := getattr(calls, name))],
        "figure": Markup(sizes.draw(counts, f"Sizes that {name} asks for")) if any(counts) else "",
    }


def _facts(demand: Demand) -> list[tuple[str, str]]:
    asked = demand.bytes_requested
    found = [("Requests", f"{demand.requests:,}")]
    if demand.per_second:
        found.append(("Requests a second", f"{_round(demand.per_second):,}"))
    if asked:
        found.append(("Asked for in all", show(asked, "bytes")))
        found.append(("Mean request", show(asked / demand.requests, "bytes")))
    return found


def _round(value: float) -> int:
    """Three figures: the count is exact, the time is a median."""
    return int(float(f"{value:.3g}"))
