"""Latency quantiles: from the operation in the middle to the slowest of all."""

from __future__ import annotations

from collections.abc import Callable

from heapwise.figures import curves
from heapwise.model import Row
from heapwise.wording.names import QUANTILES, split_quantile


def draw(rows: list[Row], title: str, show: Callable[[float], str]) -> str:
    """Rows of one cell whose quantities are quantiles; each subject a line towards the tail."""
    named = [(split[1], row) for row in rows if (split := split_quantile(row.quantity))]
    slots = [q for q in QUANTILES if any(q == name for name, _ in named)]
    found: dict[str, curves.Curve] = {}
    for name, row in sorted(named, key=lambda pair: slots.index(pair[0])):
        if row.median and row.median > 0:
            knot = curves.Knot(slots.index(name), row.median, row.ci_low, row.ci_high)
            found.setdefault(row.subject, curves.Curve(row.subject)).knots.append(knot)
    return curves.draw(
        list(found.values()), slots, title, "share of operations that are faster", show, "latency"
    )
