"""Bencher Metric Format: benchmark -> measure -> value, with the interval of the value."""

from __future__ import annotations

import json

from heapwise.model import Row
from heapwise.report.view import View
from heapwise.wording.metrics import measure_of

NAME, SUFFIX, MIME = "bencher", "bmf.json", "application/json"
ABOUT = "benchmark, measure and value, as bencher.dev reads them"

NS = {"ns": 1.0, "ns/op": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
"""Times become nanoseconds, which Bencher's measure latency is in."""


def write(view: View) -> str:
    """A row without a figure is left out."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for group in view.groups:
        for row in group.rows:
            if row.median is not None:
                found.setdefault(_benchmark(row), {})[_measure(row)] = _metric(row)
    return json.dumps(found, indent=2) + "\n"


def _benchmark(row: Row) -> str:
    settings = [f"{name}={value}" for name, value in row.parameters.items()]
    return "/".join([row.experiment, row.subject, *settings])


def _measure(row: Row) -> str:
    return measure_of(row.quantity)


def _metric(row: Row) -> dict[str, float]:
    scale = NS.get(row.unit, 1.0)
    figures = {"value": row.median, "lower_value": row.ci_low, "upper_value": row.ci_high}
    return {name: value * scale for name, value in figures.items() if value is not None}
