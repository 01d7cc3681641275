"""Quantities that are quantiles of a distribution, told by their names."""

from __future__ import annotations

QUANTILES = ("p50", "p90", "p99", "p99.9", "p99.99", "max")
SPELLINGS = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "p99.9": "p99.9",
             "p99_99": "p99.99", "p99.99": "p99.99", "max": "max"}


def split_quantile(quantity: str) -> tuple[str, str] | None:
    """``alloc_p99_9`` -> (``alloc``, ``p99.9``); None for a quantity that is no quantile."""
    for spelling in sorted(SPELLINGS, key=len, reverse=True):
        if quantity == spelling or quantity.endswith(f"_{spelling}"):
            return quantity.removesuffix(spelling).rstrip("_"), SPELLINGS[spelling]
    return None
