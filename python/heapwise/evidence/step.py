"""How coarse the numbers of a quantity are: the clock's step, and the buckets of a histogram."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from heapwise.model import Process, Quantity
from heapwise.wording.names import split_quantile

NANOSECONDS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
"""By the unit, without what it is per (``ns/op``)."""

BUCKET = 2.0**-7
"""Relative width of a bucket of the experiments' histograms (bench/harness/histogram.hpp)."""


def relative_step(quantity: Quantity, values: Iterable[float], processes: list[Process]) -> float:
    """0.01: neighbouring values are 1 % apart. 0 for a quantity that is not a quantile of
    single durations: the mean of thousands of operations has no steps that matter.

    processes: those that the values come from, whose clocks are asked.
    """
    nanoseconds = NANOSECONDS.get(quantity.unit.partition("/")[0])
    typical = median(values)
    if split_quantile(quantity.name) is None or nanoseconds is None or typical <= 0:
        return 0.0
    steps = [
        process.facts.start.clock.resolution_ns or 0.0
        for process in processes
        if process.facts.start and process.facts.start.clock
    ]
    return max(BUCKET, max(steps, default=0.0) / (typical * nanoseconds))
