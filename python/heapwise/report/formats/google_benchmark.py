"""Google Benchmark's ``--benchmark_format=json``: ``context`` and ``benchmarks``."""

from __future__ import annotations

import json
from collections.abc import Iterator

from heapwise.model import Row, Run
from heapwise.model.json_value import Json
from heapwise.report.formats.hyperfine import SECONDS
from heapwise.report.view import View

NAME, SUFFIX, MIME = "google-benchmark", "json", "application/json"
ABOUT = "the context and benchmarks schema of Google Benchmark"

AGGREGATES = ("mean", "median", "stddev")

PROCESSOR = ("cpu_time", "processor_time")
"""Quantities that are time of processors, of ``compare`` and of experiments."""

UNKNOWN = "cpu_time was not measured"
"""The label of an entry whose ``cpu_time`` is 0, since compare.py demands a number."""


def write(view: View) -> str:
    rows = [r for r in view.result.rows if r.unit in SECONDS and r.median is not None]
    processor = {(r.cell.setup, r.subject): r for r in rows if r.quantity in PROCESSOR}
    first = {e.id: e.quantities[0].name for e in view.run.experiments}
    found: list[dict[str, Json]] = []
    for place, row in enumerate(
        r for r in rows if not view.is_compare or r.quantity == "wall_time"
    ):
        is_first = row.quantity == first[row.experiment]
        found += _entries(
            row, processor.get((row.cell.setup, row.subject)) if is_first else None, place
        )
    return json.dumps({"context": _context(view.run), "benchmarks": found}, indent=2) + "\n"


def _context(run: Run) -> dict[str, Json]:
    machine = run.machine
    return {
        "date": run.created,
        "host_name": machine.host,
        "executable": (run.plan.command or ["heapwise"])[0],
        "num_cpus": machine.cores,
        "mhz_per_cpu": (machine.facts.cpufreq_max_khz or 0) // 1000,
        "cpu_scaling_enabled": any(
            governor != "performance" for governor in machine.facts.cpufreq_governors or ()
        ),
        "caches": [
            {
                "type": "Unified"
                if "d" not in name and "i" not in name
                else ("Data" if "d" in name else "Instruction"),
                "level": _level(name),
                "size": size,
                "num_sharing": 1,
            }
            for name, size in machine.caches.items()
        ],
        "load_avg": [],
        "library_version": f"heapwise {run.version}",
        "library_build_type": "release",
        "json_schema_version": 1,
    }


def _level(cache: str) -> int:
    return next((int(character) for character in cache if character.isdigit()), 1)


def _entries(row: Row, processor: Row | None, family: int) -> Iterator[dict[str, Json]]:
    """processor: the same processes' time of processors; None if it was not measured."""
    cell = "".join(f"/{k}:{v}" for k, v in {**row.parameters, "quantity": row.quantity}.items())
    name = f"{row.experiment}/{row.subject}{cell}"
    shared: dict[str, Json] = {
        "family_index": family,
        "per_family_instance_index": 0,
        "run_name": name,
        "repetitions": row.n,
        "threads": row.parameters.get("threads", 1),
        "time_unit": "ns",
    }
    known = processor if processor and len(processor.values) == len(row.values) else None
    for place, value in enumerate(row.values):
        yield {
            "name": name,
            **shared,
            "run_type": "iteration",
            "repetition_index": place,
            "iterations": 1,
            "real_time": _ns(row, value),
            **_cpu_time(known, known.values[place] if known else None),
        }
    for aggregate in AGGREGATES:
        figure = getattr(row, aggregate)
        if figure is not None:
            yield {
                "name": f"{name}_{aggregate}",
                **shared,
                "run_type": "aggregate",
                "aggregate_name": aggregate,
                "aggregate_unit": "time",
                "iterations": row.n,
                "real_time": _ns(row, figure),
                **_cpu_time(known, getattr(known, aggregate) if known else None),
            }


def _ns(row: Row, value: float) -> float:
    return value * SECONDS[row.unit] * 1e9


def _cpu_time(row: Row | None, value: float | None) -> dict[str, Json]:
    if row is None or value is None:
        return {"cpu_time": 0.0, "label": UNKNOWN}
    return {"cpu_time": _ns(row, value)}
