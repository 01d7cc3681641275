"""Google Benchmark's ``--benchmark_format=json``: ``context`` and ``benchmarks``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from heapwise.model import Row, Run
from heapwise.report.formats.hyperfine import SECONDS
from heapwise.report.view import View

NAME, SUFFIX, MIME = "google-benchmark", "json", "application/json"
ABOUT = "the context and benchmarks schema of Google Benchmark"

AGGREGATES = ("mean", "median", "stddev")


def write(view: View) -> str:
    rows = [r for r in view.result.rows if r.unit in SECONDS and r.median is not None]
    if view.is_compare:
        rows = [r for r in rows if r.quantity == "wall_time"]
    found = [entry for place, row in enumerate(rows) for entry in _entries(row, place)]
    return json.dumps({"context": _context(view.run), "benchmarks": found}, indent=2) + "\n"


def _context(run: Run) -> dict[str, Any]:
    machine = run.machine
    return {
        "date": run.created, "host_name": machine.host,
        "executable": (run.plan.command or ["heapwise"])[0], "num_cpus": machine.cores,
        "mhz_per_cpu": (machine.facts.cpufreq_max_khz or 0) // 1000,
        "cpu_scaling_enabled": any(
            governor != "performance" for governor in machine.facts.cpufreq_governors or ()),
        "caches": [{"type": "Unified" if "d" not in name and "i" not in name else
                    ("Data" if "d" in name else "Instruction"),
                    "level": _level(name), "size": size, "num_sharing": 1}
                   for name, size in machine.caches.items()],
        "load_avg": [], "library_version": f"heapwise {run.version}",
        "library_build_type": "release", "json_schema_version": 1,
    }


def _level(cache: str) -> int:
    return next((int(character) for character in cache if character.isdigit()), 1)


def _entries(row: Row, family: int) -> Iterator[dict[str, Any]]:
    factor = SECONDS[row.unit] * 1e9
    cell = "".join(f"/{k}:{v}" for k, v in {**row.parameters, "quantity": row.quantity}.items())
    name = f"{row.experiment}/{row.subject}{cell}"
    shared = {"family_index": family, "per_family_instance_index": 0, "run_name": name,
              "repetitions": row.n, "threads": row.parameters.get("threads", 1),
              "time_unit": "ns"}
    for place, value in enumerate(row.values):
        yield {"name": name, **shared, "run_type": "iteration", "repetition_index": place,
               "iterations": 1, "real_time": value * factor, "cpu_time": value * factor}
    for aggregate in AGGREGATES:
        figure = getattr(row, aggregate)
        if figure is not None:
            yield {"name": f"{name}_{aggregate}", **shared, "run_type": "aggregate",
                   "aggregate_name": aggregate, "aggregate_unit": "time", "iterations": row.n,
                   "real_time": figure * factor, "cpu_time": figure * factor}
