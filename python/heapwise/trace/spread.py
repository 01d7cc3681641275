"""Quantiles of many numbers in constant memory, as HdrHistogram counts them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapwise.trace.columns import Numbers

STEP_BITS = 6
STEPS = 1 << STEP_BITS
"""Steps of equal width in each power of two. So a quantile is at most 1 / 64 too large, and exact
if nearly all numbers of that size are the same."""

PLACES = STEPS * (64 - STEP_BITS + 1)


class Spread:
    """Numbers below 2**63, each with a weight beside its count.

    counts, weights, largest: by place; the latter is 0 if there is none.
    """

    def __init__(self) -> None:
        self.counts = np.zeros(PLACES)
        self.weights = np.zeros(PLACES)
        self.largest = np.zeros(PLACES, np.int64)

    @classmethod
    def counted(cls, rows: Iterable[tuple[int, int, int, int]]) -> Spread:
        """From rows: a place, how many numbers it has, their weight, and the largest of them."""
        found = cls()
        for place, count, weight, largest in rows:
            found.counts[place], found.weights[place] = count, weight
            found.largest[place] = largest
        return found

    def add(self, numbers: Numbers, weights: NDArray[Any]) -> None:
        if not len(numbers):
            return
        places = places_of(numbers)
        self.counts += np.bincount(places, minlength=PLACES)
        self.weights += np.bincount(places, weights.astype(np.float64), PLACES)
        np.maximum.at(self.largest, places, numbers.astype(np.int64))

    def quantile(self, order: float, by_weight: bool = False) -> int | None:
        """At least this share of the numbers (or of their weights) is not larger. None of none."""
        sums = np.cumsum(self.weights if by_weight else self.counts)
        if sums[-1] <= 0:
            return None
        place = int(np.searchsorted(sums, order * sums[-1] * (1 - 1e-12)))
        return int(self.largest[min(place, PLACES - 1)])


def places_of(numbers: Numbers) -> NDArray[np.int64]:
    """Numbers below 2 * STEPS have a place each."""
    _, exponent = np.frexp(numbers.astype(np.float64))
    shift = np.maximum(exponent.astype(np.int64) - STEP_BITS - 1, 0)
    steps = (numbers >> shift.astype(np.uint64)).astype(np.int64)
    # Doubles round numbers above 2**53: the last step of a power of two may come out as the next.
    places: NDArray[np.int64] = np.minimum(steps + shift * STEPS, PLACES - 1)
    return places
