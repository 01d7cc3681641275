"""The file that a program with Google Benchmark writes for ``--benchmark_out=FILE.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from heapwise.catalog.author_output.damaged import DamagedOutput

NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
TIMES = ("real_time", "cpu_time")
NOT_A_FIGURE = {"name", "run_name", "run_type", "time_unit"}


def records(text: str) -> list[dict[str, float | str]]:
    """One for each repeat: ``name``, counters, and times in nanoseconds. If the file has
    aggregates alone, their medians. DamagedOutput for another file."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise DamagedOutput(error.lineno, f"it is not JSON: {error.msg}") from error
    benchmarks = document.get("benchmarks")
    if not isinstance(benchmarks, list) or not all(isinstance(each, dict) for each in benchmarks):
        raise DamagedOutput(1, "it has no list of benchmarks, as Google Benchmark writes it")
    found = [record for each in _measured(benchmarks) if (record := _record(each, text))]
    if not found:
        raise DamagedOutput(1, "none of its benchmarks has a figure")
    return found


def _measured(benchmarks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    repeats = [each for each in benchmarks if each.get("run_type") != "aggregate"]
    medians = (each for each in benchmarks if each.get("aggregate_name") == "median")
    chosen = repeats or medians
    return (each for each in chosen if not each.get("error_occurred"))


def _record(each: Mapping[str, Any], text: str) -> dict[str, float | str]:
    name = each.get("run_name", each.get("name"))
    if not isinstance(name, str):
        raise DamagedOutput(_line(text, '"name"'), "a benchmark has no name")
    unit = each.get("time_unit", "ns")
    if unit not in NANOSECONDS:
        raise DamagedOutput(_line(text, f'"{name}"'), f"{name} has an unknown time unit, '{unit}'")
    found: dict[str, float | str] = {"name": name}
    for key, value in each.items():
        if key in NOT_A_FIGURE or isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if math.isfinite(value):
            found[key] = float(value) * (NANOSECONDS[unit] if key in TIMES else 1.0)
    return found


def _line(text: str, words: str) -> int:
    """The line that has them first; 1 if none has."""
    return text.count("\n", 0, max(text.find(words), 0)) + 1
