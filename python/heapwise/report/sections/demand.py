"""What the program asks of malloc: the sizes of its requests, and how often it asks."""

from __future__ import annotations

from pathlib import Path

from heapwise.document import Facts, Passage, Plot, TextTable, with_content
from heapwise.evidence.demand import Demand
from heapwise.figures import sizes
from heapwise.report.over_live import over_live
from heapwise.report.view import View
from heapwise.wording.numbers import show

TITLE, ORDER = "What the program asks of malloc", 28

SIZES = (
    "Share of the requests by size, each bar a power of two. Counted in one process of its own, "
    "under the baseline, that is not timed; calls a second are over the time of a process that is "
    "not counted."
)


def tell(view: View) -> list[Passage]:
    """Empty if no process was counted, or it asked for nothing; experiments are not a program."""
    found = view.requests
    if found is None:
        return []
    name = Path(*view.run.plan.command[:1]).name or "the program"
    calls = ", ".join(f"{function} {number:,}" for function, number in found.calls.items())
    drawn = sizes.draw(found.sizes, f"Sizes that {name} asks for") if any(found.sizes) else ""
    facts = Facts([*_facts(found.demand), ("Calls", calls)])
    over = _over_live(view, found.demand.peak_live)
    return with_content([facts, Plot(drawn, SIZES), *over])


def _facts(demand: Demand) -> list[tuple[str, str]]:
    sizes = {
        "Asked for in all": demand.bytes_requested,
        "Mean request": (demand.bytes_requested or 0) / demand.requests,
        "Live at most": demand.peak_live,
    }
    found = [("Requests", f"{demand.requests:,}")]
    if demand.per_second:
        rate = f"{_round(demand.per_second):,}"
        found.append(("Requests for each second of processor time", rate))
    return [*found, *((name, show(size, "bytes")) for name, size in sizes.items() if size)]


def _over_live(view: View, live: int | None) -> list[TextTable]:
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
