"""Bencher Metric Format: benchmark -> measure -> value with its interval, of the new build."""

from __future__ import annotations

import json

from heapwise.model import SIDE_BY_SIDE, GateResult, GateRow
from heapwise.wording.metrics import measure_of

NS = 1e9
"""Latency is in nanoseconds."""


def write(gate: GateResult) -> str:
    """A row without a figure is left out."""
    document: dict[str, dict[str, dict[str, float]]] = {}
    for row in gate.rows:
        if row.new is not None:
            name = f"{gate.program} {row.subject}" if row.subject else gate.program
            document.setdefault(name, {})[_measure(row)] = _metric(row)
    return json.dumps(document, indent=2) + "\n"


def _measure(row: GateRow) -> str:
    """Processor time is not a latency."""
    return measure_of("cpu_time" if row.quantity == SIDE_BY_SIDE else row.metric)


def _metric(row: GateRow) -> dict[str, float]:
    """The interval of the change around the value: how far the new build may be from the base."""
    scale = NS if row.metric == "time" and not row.quantity else 1.0
    value = (row.new or 0.0) * scale
    if row.absolute and row.low is not None and row.high is not None:
        return {
            "value": value,
            "lower_value": row.low * scale,
            "upper_value": row.high * scale,
        }
    if row.change is None or row.low is None or row.high is None:
        return {"value": value}
    return {
        "value": value,
        "lower_value": value * (1 + row.low) / (1 + row.change),
        "upper_value": value * (1 + row.high) / (1 + row.change),
    }
