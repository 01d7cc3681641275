"""The ratios of a run's subject to subjects that are not its baseline, as a Markdown table.

A ratio is of what is paid, time or memory: below 1 the subject is better. In brackets is its 95 %
interval, from the rounds in which both were measured, as in a report. `?`: the interval that a
verdict takes contains 1.
"""

from __future__ import annotations

import math

from heapwise.analysis.summary.headlines import label
from heapwise.analysis.verdicts.standing import Standing
from heapwise.document.markdown import table
from heapwise.evidence import Evidence, comparisons_of
from heapwise.stats.ratios.paired import PairedRatio

ASPECTS = ("speed", "latency", "memory", "other")


def ratios(found: Evidence, rows: list[Standing], subject: str, others: list[str]) -> list[str]:
    """A line for each row; the last one has the geometric mean of those that have a ratio."""
    lines: list[list[str]] = []
    logarithms: dict[str, list[float]] = {other: [] for other in others}
    for row in rows:
        cells = []
        for other in others:
            measured = {subject, other} <= found.table[row.cell].keys()
            ratio, note = (
                comparisons_of(found).ratio((row.cell, subject), (row.cell, other))
                if measured
                else (None, "not measured")
            )
            cost = ratio if ratio is None or row.quantity.better == "lower" else inverse(ratio)
            cells.append(_text(cost) if cost else note or "-")
            if cost:
                logarithms[other].append(math.log(cost.ratio))
        lines.append([label(found, row.cell), *cells])
    means = [
        f"{math.exp(sum(each) / len(each)):.3g} ({len(each)} rows)" if each else "-"
        for each in logarithms.values()
    ]
    return table(
        ["row", *(f"{subject} / {other}" for other in others)], [*lines, ["geometric mean", *means]]
    )


def inverse(ratio: PairedRatio) -> PairedRatio:
    """The ratio of the times, if that of the speeds is given."""
    low, high = ratio.low, ratio.high
    return PairedRatio(
        1 / ratio.ratio,
        1 / high if high else None,
        1 / low if low else None,
        ratio.n,
        ratio.p_value,
        ratio.confidence,
        ratio.note,
        ratio.guard,
    )


def _text(cost: PairedRatio) -> str:
    if cost.low is None or cost.high is None or cost.strict is None:
        return f"{cost.ratio:.3g}"
    unsure = "?" if cost.strict[0] <= 1 <= cost.strict[1] else ""
    return f"{cost.ratio:.3g}{unsure} ({cost.low:.3g} to {cost.high:.3g})"
