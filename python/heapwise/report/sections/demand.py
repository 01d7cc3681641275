"""What the program asks of malloc: the sizes of its requests, and how often it asks."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from heapwise.evidence.demand import Demand
from heapwise.figures import sizes
from heapwise.report.context import Context
from heapwise.report.over_live import OverLive, over_live
from heapwise.report.view import View
from heapwise.wording.numbers import show

TITLE, ORDER = "What the program asks of malloc", 28


def build(view: View) -> Context | None:
    """None where no process was counted, or it asked for nothing; experiments are not a program."""
    found = view.requests
    if found is None:
        return None
    name = Path(*view.run.plan.command[:1]).name or "the program"
    return {
        "facts": _facts(found.demand),
        "calls": [(function, f"{number:,}") for function, number in found.calls.items()],
        "figure": Markup(sizes.draw(found.sizes, f"Sizes that {name} asks for"))
        if any(found.sizes)
        else "",
        "over_live": _over_live(view, found.demand.peak_live),
    }


def _facts(demand: Demand) -> list[tuple[str, str]]:
    asked = demand.bytes_requested
    found = [("Requests", f"{demand.requests:,}")]
    if demand.per_second:
        rate = f"{_round(demand.per_second):,}"
        found.append(("Requests for each second of processor time", rate))
    if asked:
        found.append(("Asked for in all", show(asked, "bytes")))
        found.append(("Mean request", show(asked / demand.requests, "bytes")))
    if demand.peak_live:
        found.append(("Live at most", show(demand.peak_live, "bytes")))
    return found


def _over_live(view: View, live: int | None) -> list[OverLive]:
    """Empty if there are several settings: the calls of only one of them were counted. Builds other
    than the counted one are left out."""
    groups = [group for group in view.groups if group.quantity == "peak_memory"]
    if len(groups) != 1:
        return []
    build = view.run.plan.build_of
    counted = build(view.evidence.labels[0])
    return over_live([row for row in groups[0].rows if build(row.subject) == counted], live)


def _round(value: float) -> int:
    """Three figures: the count is exact, the time is a median."""
    return int(float(f"{value:.3g}"))
