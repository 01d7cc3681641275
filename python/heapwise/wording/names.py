"""Names that programs use, as a sentence has them: quantities, quantiles, settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

QUANTITIES = {
    "wall_time": "time",
    "cpu_time": "CPU time",
    "side_by_side": "CPU time, side by side",
    "peak_memory": "peak memory",
    "tree_peak": "peak memory of all processes",
    "mean_memory": "mean memory",
    "end_memory": "memory at the end",
    "group_peak": "peak memory of the control group",
    "minor_faults": "minor page faults",
    "major_faults": "major page faults",
    "voluntary_switches": "voluntary context switches",
    "involuntary_switches": "involuntary context switches",
    "wall": "time",
    "peak_resident": "peak memory",
    "cpu_per_request": "processor time per request",
    "after_idle": "memory after idle time",
}
QUANTILES = ("p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max")
SPELLINGS = {name: name for name in QUANTILES} | {
    name.replace(".", "_"): name for name in QUANTILES
}


def split_quantile(quantity: str) -> tuple[str, str] | None:
    """``alloc_p99_9`` -> (``alloc``, ``p99.9``); None for a quantity that is not a quantile."""
    for spelling in sorted(SPELLINGS, key=len, reverse=True):
        if quantity == spelling or quantity.endswith(f"_{spelling}"):
            return quantity.removesuffix(spelling).rstrip("_"), SPELLINGS[spelling]
    return None


def spaced(name: str) -> str:
    """``timed_out`` -> ``timed out``: statuses, parameters, experiments."""
    return name.replace("_", " ")


def quantity_name(quantity: str) -> str:
    """``wall_time`` -> ``time``, ``alloc_p99_9`` -> ``alloc p99.9``."""
    if (quantile := split_quantile(quantity)) is not None:
        return " ".join([*filter(None, [spaced(quantile[0])]), quantile[1]])
    return QUANTITIES.get(quantity, spaced(quantity))


def setting(name: str, value: object) -> str:
    """``block size 64``, ``iterations 1,000,000``."""
    return f"{spaced(name)} {setting_value(value)}"


def setting_value(value: object) -> str:
    """``1,000,000``, ``true``, ``0.5``, ``malloc``: switches as ``--set`` reads them."""
    if isinstance(value, bool):
        return plain_value(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def plain_value(value: object) -> str:
    """``1000000``, ``true``, ``0.5``, ``malloc``: all values as ``--set`` reads them."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def cell_words(parameters: Mapping[str, Any]) -> str:
    """``block size 64, iterations 1,000,000``."""
    return ", ".join(setting(name, value) for name, value in parameters.items())
