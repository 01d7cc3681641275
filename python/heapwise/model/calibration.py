"""What the earlier runs of a machine say of how wide intervals have to be there."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.model.facts import Count


@dataclass(frozen=True)
class Calibration:
    """runs: whose A/A pairs were looked at. factor: by which intervals of one quantity are widened;
    at least 1."""

    runs: Count
    factor: float
