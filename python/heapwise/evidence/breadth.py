"""How long chains of additions side by side take on a core that nobody shares.

They take longer while somebody uses the core's other hardware thread (bench/kernel/breadth.hpp).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from heapwise.model import Sample

USUAL = 0.05
"""The reference is this quantile of all looks. The single shortest one would be the luckiest: one
look at a higher clock would make all others look crowded."""

ENOUGH_LOOKS = 20
"""The looks at one processor; with fewer the reference is that of all processors together."""

Looks = Iterable[tuple[int | None, float]]
"""Processor, if it is known, and nanoseconds."""


class References:
    """Nanoseconds for each processor."""

    def __init__(self, looks: Looks) -> None:
        groups: dict[int | None, list[float]] = {}
        every: list[float] = []
        for processor, took_ns in looks:
            groups.setdefault(processor, []).append(took_ns)
            every.append(took_ns)
        self._all = float(np.quantile(every, USUAL)) if every else 0.0
        self._each: Mapping[int | None, float] = {
            processor: float(np.quantile(found, USUAL))
            for processor, found in groups.items()
            if processor is not None and len(found) >= ENOUGH_LOOKS
        }

    def of(self, processor: int | None) -> float:
        """0 if there was no look at all."""
        return self._each.get(processor, self._all)


def processor_of(sample: Sample) -> int | None:
    """The one that the timed region ran on; None if there were several."""
    cpus = sample.facts.cpus or []
    return cpus[0] if len(cpus) == 1 else None


def references_of(samples: Iterable[Sample]) -> References:
    return References(
        (processor_of(s), float(took))
        for s in samples
        for took in (s.facts.breadth_before_ns, s.facts.breadth_after_ns)
        if took
    )
