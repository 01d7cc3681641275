"""What attempts of one attack on an allocator came to."""

from __future__ import annotations

from dataclasses import dataclass

ATTACKS = "attacks"
"""The family of experiments whose question is what allocators withstand."""


@dataclass(frozen=True)
class Fate:
    """Shares of the attempts, 0 to 1; what is left of them was harmless.

    calls: of malloc and free between the deed and a later stop, mean.
    alarms: share of the legal twins that were stopped.
    """

    corrupted: float
    at_once: float
    later: float
    calls: float
    hung: float
    alarms: float

    @property
    def harmless(self) -> float:
        return max(0.0, 1 - self.corrupted - self.at_once - self.later - self.hung)

    @property
    def stopped(self) -> float:
        return self.at_once + self.later
