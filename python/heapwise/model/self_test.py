"""What the laboratory found out about itself on one machine; each later run there keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

PlantedOutcome = Literal["found", "missed", "false alarm", "too noisy", "not possible"]
"""``too noisy``: an effect that is smaller than the noise of this machine. ``not possible``: it
cannot be planted here."""


@dataclass(frozen=True)
class Planted:
    """One fault or effect that was planted, and whether ``check`` found it."""

    check: str
    planted: str
    outcome: PlantedOutcome
    detail: str
    share: float = 0.0
    """The size of an effect: 0.03 is 3 % more. 0 for a fault."""


@dataclass(frozen=True)
class SelfTest:
    """``build`` and ``machine`` are the fingerprints of what was tested, and where."""

    created: str
    version: str
    build: str
    machine: str
    duration_s: float
    planted: list[Planted] = field(default_factory=list)

    @property
    def failures(self) -> list[Planted]:
        return [each for each in self.planted if each.outcome in ("missed", "false alarm")]
