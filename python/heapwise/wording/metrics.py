"""The metrics of a program by which it is judged: the only table of their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heapwise.model import ProcessFacts


@dataclass(frozen=True)
class Metric:
    """name: as a limit and a stored run have it. quantity: by which rounds measure it; "" if it is
    only counted. alias: a second name that users may type; "" for none.

    count: exactly, from a process that is not timed; None if it cannot be counted. of_malloc:
    counted by a library that is loaded into the program. of_gate: a gate may limit it. measure:
    Bencher's name, if it is not the metric's own.
    """

    name: str
    quantity: str = ""
    alias: str = ""
    count: Callable[[ProcessFacts], int | None] | None = None
    of_malloc: bool = False
    of_gate: bool = True
    measure: str = ""


METRICS = (
    Metric("time", "wall_time", measure="latency"),
    Metric("cpu_time", "cpu_time"),
    Metric("peak_memory", "peak_memory", alias="memory"),
    Metric("instructions", "instructions", count=lambda facts: facts.instructions),
    Metric(
        "allocations",
        count=lambda facts: facts.calls.requests if facts.calls else None,
        of_malloc=True,
    ),
    Metric(
        "allocated_bytes",
        count=lambda facts: facts.bytes_requested if facts.calls else None,
        of_malloc=True,
    ),
    Metric("minor_faults", "minor_faults", of_gate=False),
)
"""Rounds measure the instructions too, if the processor counts them."""

OF_GATE = {metric.name: metric for metric in METRICS if metric.of_gate}

OF_COUNTS = {metric.name: metric for metric in METRICS if metric.count}
"""Counted in processes of their own, which are not timed."""

OF_ROUNDS = [metric.name for metric in METRICS if metric.quantity and metric.count is None]
"""Every round has them, on any machine."""


TIMES = {"time": "wall_time", "cpu_time": "cpu_time"}
"""Metrics that are judged by processor time if the programs run side by side -> quantities."""


def find_metric(word: str) -> Metric | None:
    """By its name or its alias."""
    return next((m for m in METRICS if word in (m.name, m.alias) and word), None)


def measured_by(word: str) -> str:
    """The quantity of a metric; the word itself if it is not a metric that rounds measure."""
    metric = find_metric(word)
    return metric.quantity if metric and metric.quantity else word


def measure_of(name: str) -> str:
    """Bencher's name of a metric or of a quantity."""
    metric = next((m for m in METRICS if name in (m.name, m.quantity)), None)
    return metric.measure if metric and metric.measure else name.replace("_", "-")
