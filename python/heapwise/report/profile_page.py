"""The page of a profile: the estimates of its samples, with intervals, and flame graphs."""

from __future__ import annotations

from math import isnan

import numpy as np

from heapwise.report.allocation_parts import MOST_SITES, render
from heapwise.trace import Trace
from heapwise.trace.contents import BUCKETS, POINTS, power_buckets
from heapwise.trace.names.symbols import Symbols
from heapwise.trace.names.wrappers import Wrappers
from heapwise.trace.profile import Estimate, Samples
from heapwise.trace.profile_document import LIFETIME_ORDERS
from heapwise.trace.sampled_stacks import SampledStacks
from heapwise.wording.lists import counted
from heapwise.wording.numbers import ShowNumber, percent, show, significant, size


def profile_page(trace: Trace, stacks: SampledStacks, symbols: Symbols, wrappers: Wrappers) -> str:
    """One file that loads nothing from the network."""
    found = stacks.samples
    sites = stacks.by_site(symbols, wrappers) if len(found) else []
    shown = _time(trace.ns_a_unit)
    return render(
        "profile.html",
        trace,
        stacks.call_stacks(symbols),
        _live(stacks),
        _weights(found, found.size),
        _lifetimes(found),
        samples=f"{len(found):,}",
        every=size(trace.sample_every),
        notes=_notes(trace),
        blocks=_pair(found.blocks(), _count),
        bytes=_pair(found.bytes(), size),
        facts=_facts(found),
        sites=[_site(name, site, shown) for name, site in sites[:MOST_SITES]],
        more=max(0, len(sites) - MOST_SITES),
        quantiles=[
            (f"{order * 100:g} %", *_pair(each, shown))
            for order, each in zip(
                LIFETIME_ORDERS, found.lifetime_quantiles(LIFETIME_ORDERS), strict=True
            )
            if not isnan(each.value)
        ],
    )


def _facts(found: Samples) -> list[tuple[str, str, str]]:
    facts = [
        ("Blocks", *_pair(found.blocks(), _count)),
        ("Bytes", *_pair(found.bytes(), size)),
        ("Not freed", *_pair(found.live_bytes(), size)),
    ]
    if found.ended.any():
        facts.append(("Freed by another thread", *_pair(found.share_handed_over(), percent)))
    return facts


def _notes(trace: Trace) -> list[str]:
    summary = trace.summary
    if summary is None:
        return []
    notes = []
    if summary.kept_events < summary.events:
        notes.append(
            f"The profile holds {counted(summary.windows, 'window')} with "
            f"{percent(summary.kept_events / summary.events)} of the samples."
        )
    if summary.events_missed:
        notes.append(
            f"{summary.events_missed:,} samples found no place: the figures are too low "
            "by their share."
        )
    if summary.pauses:
        notes.append(
            f"The recording was paused {counted(summary.pauses, 'time')}: blocks that "
            "were made in a pause are not in the figures."
        )
    return notes


def _site(name: str, site: Samples, shown: ShowNumber) -> dict[str, object]:
    [median] = site.lifetime_quantiles([0.5])
    return {
        "name": name,
        "samples": f"{len(site):,}",
        "bytes": _pair(site.bytes(), size),
        "blocks": _pair(site.blocks(), _count),
        "lifetime": "to the end" if isnan(median.value) else shown(median.value),
    }


def _pair(estimate: Estimate, say: ShowNumber) -> tuple[str, str]:
    return say(estimate.value), f"{say(estimate.low)} to {say(estimate.high)}"


def _count(value: float) -> str:
    return significant(round(value))


def _time(unit: float) -> ShowNumber:
    return lambda value: show(value * unit, "ns") if unit else f"{value:.0f} units"


def _weights(found: Samples, values: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> list[float]:
    """Estimated blocks in each bucket of powers of two."""
    weights: list[float] = np.bincount(power_buckets(values), 1 / found.chance, BUCKETS).tolist()
    return weights


def _lifetimes(found: Samples) -> list[float]:
    ended = found.only(found.ended)
    return _weights(ended, ended.lifetime.astype(np.uint64))


def _live(stacks: SampledStacks) -> list[tuple[int, int]]:
    """The curve, at no more than POINTS points: the highest of each stretch."""
    curve = stacks.curve()
    stretch = len(curve) // POINTS + 1
    return [
        (time, round(live))
        for time, live in (
            max(curve[at : at + stretch], key=lambda point: point[1])
            for at in range(0, len(curve), stretch)
        )
    ]
