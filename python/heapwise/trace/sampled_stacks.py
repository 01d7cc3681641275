"""The call stacks of a profile: each sample with its stack, its life, and what it stands for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwise.trace.columns import Reals
from heapwise.trace.file import Trace
from heapwise.trace.names.call_stacks import CallStack, stack_places
from heapwise.trace.names.symbols import Symbols
from heapwise.trace.names.wrappers import Wrappers
from heapwise.trace.profile import Samples

NEVER = (1 << 63) - 1


@dataclass(frozen=True)
class SampledStacks:
    """One place of each array for each sample, in the order in which they were made.

    gone: when it ended, in units of the trace; NEVER if nobody freed it. stack: index of stacks,
    which have the caller first.
    """

    samples: Samples
    gone: NDArray[np.int64]
    stack: NDArray[np.int64]
    stacks: list[tuple[int, ...]]

    @property
    def blocks(self) -> Reals:
        """How many blocks each sample stands for on average."""
        return 1 / self.samples.chance

    @property
    def bytes(self) -> Reals:
        """How many bytes each sample stands for on average."""
        return self.blocks * self.samples.size

    @property
    def made(self) -> NDArray[np.int64]:
        return self.samples.made.astype(np.int64)

    def by_site(self, symbols: Symbols, wrappers: Wrappers) -> list[tuple[str, Samples]]:
        """(name, samples) by the first frame that is not a wrapper, most bytes first."""
        symbols.learn(address for stack in self.stacks for address in stack)
        names = []
        for stack in self.stacks:
            places = [place for address in stack for place in symbols.frames(address)]
            names.append(str(places[wrappers.beyond(places)]) if places else "unknown")
        labels = list(dict.fromkeys(names))
        groups = np.array([labels.index(name) for name in names], np.int64)[self.stack]
        sites = [(label, self.samples.only(groups == group)) for group, label in enumerate(labels)]
        return sorted(sites, key=lambda item: -item[1].bytes().value)

    def curve(self) -> list[tuple[int, float]]:
        """(time, estimated live bytes) after each event."""
        ended = self.gone != NEVER
        time = np.concatenate([self.made, self.gone[ended]])
        step = np.concatenate([self.bytes, -self.bytes[ended]])
        order = np.argsort(time, kind="stable")
        live = np.maximum(np.cumsum(step[order]), 0)
        return list(zip(time[order].tolist(), live.tolist(), strict=True))

    def at_peak(self) -> NDArray[np.bool_]:
        """The samples that lived when the estimate of the live bytes was highest."""
        curve = self.curve()
        if not curve:
            return np.zeros(0, bool)
        moment = max(curve, key=lambda point: point[1])[0]
        return (self.made <= moment) & (self.gone > moment)

    def call_stacks(self, symbols: Symbols) -> list[CallStack]:
        """Estimates, rounded. Most bytes first."""
        symbols.learn(address for stack in self.stacks for address in stack)
        everything, peak = np.ones(len(self.made), bool), self.at_peak()
        columns = [
            np.rint(np.bincount(self.stack[chosen], values[chosen], len(self.stacks)))
            .astype(np.int64)
            .tolist()
            for chosen in (everything, peak, self.gone == NEVER)
            for values in (self.blocks, self.bytes)
        ]
        found = [
            CallStack(stack_places(stack, symbols), *row)
            for stack, *row in zip(self.stacks, *columns, strict=True)
        ]
        return sorted(found, key=lambda stack: (-stack.bytes, -stack.blocks))


def read_sampled_stacks(trace: Trace) -> SampledStacks:
    """Memory: that of the samples. A sample without a stack has that of its call site."""
    numbers: dict[tuple[int, ...], int] = {}
    places: dict[int, int] = {}
    rows: list[tuple[int, int, int, int, int]] = []
    deaths: list[int] = []
    other: list[bool] = []
    for events in trace.events():
        known = {each.row: each.addresses for each in events.stacks}
        for row in np.flatnonzero(events.makes | events.ends).tolist():
            block, thread = int(events.block[row]), int(events.thread[row])
            if not events.makes[row]:
                place = places.pop(block, None)
                if place is not None:
                    deaths[place], other[place] = int(events.time[row]), thread != rows[place][2]
                continue
            places[block] = len(rows)
            site = int(events.site[row])
            address = trace.site_address(site)
            stack = known.get(row) or ((address,) if address is not None else ())
            rows.append(
                (
                    int(events.size[row]),
                    site,
                    thread,
                    int(events.time[row]),
                    numbers.setdefault(stack, len(numbers)),
                )
            )
            deaths.append(NEVER)
            other.append(False)
    columns = np.array(rows, np.uint64).reshape(-1, 5).T
    births, ends = columns[3].astype(np.int64), np.array(deaths, np.int64)
    size, site, thread, time = columns[:4]
    samples = Samples(
        trace.sample_every,
        size,
        site,
        thread,
        time,
        np.where(ends == NEVER, np.nan, (ends - births).astype(np.float64)),
        np.array(other, bool),
    )
    return SampledStacks(samples, ends, columns[4].astype(np.int64), list(numbers))
