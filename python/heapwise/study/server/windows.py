"""Several windows of load on one server, one after the other."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from hdrh.histogram import HdrHistogram
from msgspec import structs

from heapwise.model import LoadFacts, Setting, WindowFacts
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.stats.series.windows import end_of_warm_up
from heapwise.study.server.load import FIGURES, LONGEST_US, Load, latency_values


def put_windows(
    load: Load,
    window_s: float,
    rate: float | None,
    values: Mapping[str, Setting],
    stop: StopSwitch,
    started: float,
) -> LoadFacts:
    """The load in windows of this length, as many as fit into its time. What it says is of those
    after the warm-up, together; ``windows`` has all. started: of the server, by time.monotonic.
    Problem E035 if the generator fails in one.

    The generator is started for each window, so its start is not part of any.
    """
    one = replace(load, seconds=window_s)
    windows: list[WindowFacts] = []
    found: list[LoadFacts] = []
    for _ in range(int(load.seconds // window_s)):
        began = time.monotonic() - started
        facts = one.put(rate, values, stop)
        if stop.requested:
            return facts
        found.append(facts)
        windows.append(_window(facts, began, time.monotonic() - started))
    first = end_of_warm_up([_level(window) for window in windows])
    marked = [
        structs.replace(window, warm_up=number < first) for number, window in enumerate(windows)
    ]
    return structs.replace(
        _together(found[first:]), windows=marked, errors=sum(facts.errors for facts in found)
    )


def _window(facts: LoadFacts, began_s: float, ended_s: float) -> WindowFacts:
    late = latency_values(facts)
    return WindowFacts(
        began_s=began_s,
        ended_s=ended_s,
        requests=facts.requests,
        rate=facts.achieved_rate,
        latency_p50=late.get("latency_p50"),
        latency_p99=late.get("latency_p99"),
    )


def _level(window: WindowFacts) -> float:
    """By which the warm-up is judged: with a rate the latency, as the rate is the plan's."""
    return float(window.rate if window.latency_p50 is None else window.latency_p50)


def _together(found: list[LoadFacts]) -> LoadFacts:
    """Windows are of equal length. The generator's share of its processors is that of the busiest,
    and the rate that was reached that of the least, since one bad window spoils the latencies."""
    rates = [float(facts.achieved_rate) for facts in found]
    shares = [float(f.schedule_share) for f in found if f.schedule_share is not None]
    busy = [float(facts.generator_cpu or 0) for facts in found]
    opened = found[0].open_loop
    return structs.replace(
        found[0],
        requests=sum(facts.requests for facts in found),
        achieved_rate=min(rates) if opened else sum(rates) / len(rates),
        schedule_share=min(shares, default=None),
        generator_cpu=max(busy),
        histogram=_added([f.histogram for f in found if f.histogram]),
    )


def _added(encoded: list[str]) -> str | None:
    if not encoded:
        return None
    sum_of_all = HdrHistogram(1, LONGEST_US, FIGURES)
    for each in encoded:
        sum_of_all.add(HdrHistogram.decode(each.encode()))
    text: bytes = sum_of_all.encode()
    return text.decode()
