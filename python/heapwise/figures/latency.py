"""Latency quantiles: from the operation in the middle to the slowest of all."""

from __future__ import annotations

from collections.abc import Callable

from heapwise.figures import curves
from heapwise.model import Row

QUANTILES = ("p50", "p90", "p99", "p99.9", "p99.99", "max")


def quantile_of(quantity: str) -> str | None:
    """``p99.9`` of ``p99.9``, ``alloc_p99_9`` or ``p999``; None for another quantity."""
    words = quantity.lower().replace("p99_99", "p99.99").replace("p99_9", "p99.9")
    words = words.replace("p9999", "p99.99").replace("p999", "p99.9")
    return next((q for q in reversed(QUANTILES) if words == q or words.endswith(f"_{q}")
                 or words.startswith(f"{q}_")), None)


def draw(rows: list[Row], title: str, show: Callable[[float], str]) -> str:
    """Rows of one cell whose quantities are quantiles; each subject a line towards the tail."""
    named = [(quantile_of(row.parameters["quantity"]), row) for row in rows]
    slots = [q for q in QUANTILES if any(q == name for name, _ in named)]
    found: dict[str, curves.Curve] = {}
    for name, row in sorted(named, key=lambda pair: slots.index(pair[0]) if pair[0] else 0):
        if name is not None and row.median:
            knot = curves.Knot(slots.index(name), row.median, row.ci_low, row.ci_high)
            found.setdefault(row.subject, curves.Curve(row.subject)).knots.append(knot)
    return curves.draw(list(found.values()), slots, title, "share of operations that are faster",
                       show, "latency")
