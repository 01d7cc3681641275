"""What the program asks of malloc: the sizes of its requests, and how many there are a second."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from heapwise.evidence.demand import Demand
from heapwise.figures import sizes
from heapwise.model import Row
from heapwise.report.view import View
from heapwise.wording.numbers import show

TITLE, ORDER = "What the program asks of malloc", 28

LEAST_LIVE = 1 << 20
"""Bytes. Below, nearly all memory of a process is code, stacks and the C library's own."""


@dataclass(frozen=True)
class OverLive:
    """The peak memory of a subject, and how many times the peak of live bytes that is."""

    subject: str
    peak: str
    ratio: str


def build(view: View) -> dict[str, Any] | None:
    """None where no process was counted, or it asked for nothing; experiments are not a program."""
    found = view.requests
    if found is None:
        return None
    name = Path(*view.run.plan.command[:1]).name or "the program"
    return {
        "facts": _facts(found.demand),
        "calls": [(function, f"{number:,}") for function, number in found.calls.items()],
        "figure": Markup(sizes.draw(found.sizes, f"Sizes that {name} asks for"))
        if any(found.sizes) else "",
        "over_live": _over_live(view, found.demand.peak_live),
    }


def _facts(demand: Demand) -> list[tuple[str, str]]:
    asked = demand.bytes_requested
    found = [("Requests", f"{demand.requests:,}")]
    if demand.per_second:
        found.append(("Requests a second", f"{_round(demand.per_second):,}"))
    if asked:
        found.append(("Asked for in all", show(asked, "bytes")))
        found.append(("Mean request", show(asked / demand.requests, "bytes")))
    if demand.peak_live:
        found.append(("Live at most", show(demand.peak_live, "bytes")))
    return found


def _over_live(view: View, live: int | None) -> list[OverLive]:
    """Empty if the peak is unknown or small, and if there are several settings: the calls of only
    one of them were counted. Builds other than the counted one are left out."""
    groups = [group for group in view.groups if group.quantity == "peak_memory"]
    if live is None or live < LEAST_LIVE or len(groups) != 1:
        return []
    build = view.run.plan.build_of
    counted = build(view.evidence.labels[0])
    return [OverLive(row.subject, show(row.median, row.unit), _ratio(row, live))
            for row in groups[0].rows
            if row.median is not None and build(row.subject) == counted]


def _ratio(row: Row, live: int) -> str:
    """With the interval of the median."""
    assert row.median is not None
    middle = f"{row.median / live:.2f}"
    if row.ci_low is None or row.ci_high is None:
        return middle
    return f"{middle} ({row.ci_low / live:.2f} to {row.ci_high / live:.2f})"


def _round(value: float) -> int:
    """Three figures: the count is exact, the time is a median."""
    return int(float(f"{value:.3g}"))
