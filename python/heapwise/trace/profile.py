"""What a profile says of all blocks: estimates from its samples, with intervals.

Each byte that the program asks for is a sample with the same small chance, independently of all
others. So a block of s bytes is in the profile with the chance p = 1 - exp(-s / sample_every), and
stands for 1 / p blocks (Horvitz and Thompson, 1952). Blocks of 0 bytes are never seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwise.trace.columns import Numbers, Reals

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value, and the interval that holds the true one with CONFIDENCE."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Samples:
    """The sampled blocks, one place of each array for each.

    made: when, in units of the trace. lifetime: NaN of a block whose end is not in the profile.
    handed_over: whether another thread ended it than made it.
    """

    sample_every: int
    size: Numbers
    site: Numbers
    thread: Numbers
    made: Numbers
    lifetime: Reals
    handed_over: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.size)

    @property
    def chance(self) -> Reals:
        """The chance of each block to be in the profile."""
        return -np.expm1(-self.size.astype(np.float64) / self.sample_every)

    @property
    def ended(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.lifetime)

    def only(self, chosen: NDArray[np.bool_]) -> Samples:
        return Samples(
            self.sample_every,
            self.size[chosen],
            self.site[chosen],
            self.thread[chosen],
            self.made[chosen],
            self.lifetime[chosen],
            self.handed_over[chosen],
        )

    def by_site(self) -> Iterator[tuple[int, Samples]]:
        for number in np.unique(self.site):
            yield int(number), self.only(self.site == number)

    def blocks(self) -> Estimate:
        """How many blocks the program made."""
        return total(self.chance, np.ones(len(self)))

    def bytes(self) -> Estimate:
        """How many bytes the program asked for."""
        return total(self.chance, self.size.astype(np.float64))

    def live_bytes(self) -> Estimate:
        """The bytes of the blocks whose end is not in the profile."""
        return self.only(~self.ended).bytes()

    def share_handed_over(self) -> Estimate:
        """The share, of the blocks that ended, that another thread ended."""
        ended = self.only(self.ended)
        return share(ended.chance, ended.handed_over)

    def lifetime_quantiles(self, orders: Sequence[float]) -> list[Estimate]:
        """The lifetimes of the blocks that ended, in units of the trace."""
        ended = self.only(self.ended)
        return quantiles(ended.lifetime, ended.chance, orders)


def total(chance: Reals, value: Reals) -> Estimate:
    """The sum of ``value`` over all blocks, from those that were sampled.

    The interval is that of a weighted sum of Poisson counts (Fay and Feuer, 1997), which holds for
    few samples, too. A block adds to its width as far as one like it can have been missed.
    """
    from scipy.special import gammaincinv  # a look at a trace needs no scipy

    weights = value / chance
    found = float(weights.sum())
    variance = float((weights**2 * (1 - chance)).sum())
    if variance == 0:
        return Estimate(found, found, found)
    largest = float((weights * (1 - chance)).max())
    rest = (1 - CONFIDENCE) / 2
    low = variance / found * gammaincinv(found**2 / variance, rest)
    above, variance_above = found + largest, variance + largest**2
    high = variance_above / above * gammaincinv(above**2 / variance_above, 1 - rest)
    return Estimate(found, float(low), float(high))


def share(chance: Reals, chosen: NDArray[np.bool_]) -> Estimate:
    """The share of all blocks that are ``chosen``; its interval by Wilson's formula, with as many
    observations as the weights are worth."""
    if not len(chance):
        return Estimate(np.nan, 0.0, 1.0)
    from scipy.special import ndtri

    weights = 1 / chance
    all_, found = float(weights.sum()), float(weights[chosen].sum())
    count = all_**2 / float((weights**2).sum())
    z = float(ndtri((1 + CONFIDENCE) / 2))
    part = found / all_
    middle = (part + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * np.sqrt(part * (1 - part) / count + z**2 / (4 * count**2))
    return Estimate(part, max(0.0, float(middle - half)), min(1.0, float(middle + half)))


def quantiles(values: Reals, chance: Reals, orders: Sequence[float]) -> list[Estimate]:
    """Weighted quantiles. The interval is that of the share below, turned into values (Woodruff,
    1952)."""
    if not len(values):
        return [Estimate(np.nan, np.nan, np.nan) for _ in orders]
    order = np.argsort(values, kind="stable")
    values, chance = values[order], chance[order]
    below = np.cumsum(1 / chance)
    below /= below[-1]

    def at(part: float) -> float:
        return float(values[min(len(values) - 1, int(np.searchsorted(below, part)))])

    found = []
    for part in orders:
        spread = share(chance, below <= part)
        half = max(spread.high - spread.value, spread.value - spread.low)
        found.append(Estimate(at(part), at(max(0.0, part - half)), at(min(1.0, part + half))))
    return found
