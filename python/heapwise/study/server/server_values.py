"""The quantities of one server, from its facts and those of its load."""

from __future__ import annotations

from heapwise.model import LoadFacts, MemoryCurve, Process, ProcessFacts
from heapwise.runner.executors.whole_program import group_values, memory_values
from heapwise.study.server.load import latency_values

KIB = 1024


def server_values(process: Process, quantities: set[str]) -> dict[str, float]:
    """Those of the quantities that were found."""
    facts, load = process.facts, process.facts.load
    assert load is not None
    found: dict[str, float | None] = {
        "throughput": None if load.open_loop else float(load.achieved_rate),
        "ready_time": load.ready_s,
        "peak_memory": facts.peak_rss_bytes,
        "cpu_per_request": cpu_per_request(facts) * 1e9 if facts.cpu_s else None,
        **latency_values(load),
        **memory_values(facts.memory, facts.peak_rss_bytes),
        **group_values(facts.group),
        **_phases(facts.memory, load),
    }
    return {
        name: float(value)
        for name, value in found.items()
        if value is not None and name in quantities
    }


def cpu_per_request(facts: ProcessFacts) -> float:
    """Seconds. facts: of a server that has answered requests and used processor time."""
    assert facts.load is not None
    return float(facts.cpu_s or 0.0) / _answered(facts.load)


def _answered(load: LoadFacts) -> int:
    """All requests, also those of the warm-up: the server's processor time is of all."""
    return sum(window.requests for window in load.windows) or load.requests


def _phases(curve: MemoryCurve | None, load: LoadFacts) -> dict[str, float]:
    """Bytes when the load ended, and at the end of the idle phase. Both are of moments before, not
    of the server's end, in which it gives its memory back."""
    if curve is None or load.ended_s is None or load.stopped_s is None:
        return {}
    moments = list(zip(curve.at_ms, curve.proportional_kib, strict=True))

    def last_before(seconds: float) -> float | None:
        inside = [kib for ms, kib in moments if ms <= seconds * 1000]
        return inside[-1] * KIB if inside else None

    found = {
        "after_load": last_before(float(load.ended_s)),
        "after_idle": last_before(float(load.stopped_s)),
    }
    return {name: value for name, value in found.items() if value is not None}
