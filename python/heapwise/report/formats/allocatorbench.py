"""CSV as AllocatorBench keeps it: raw timing data, a line for each repeat of each process.

Columns, in this order; a figure that an experiment does not give is left empty:

- ``workload``: the experiment's name without its family; ``allocator``: without ``malloc@``;
- ``threads``: 1 where the experiment has none; ``parameters``: the others, ``a=1 b=2``;
- ``round``, ``repeat``, ``process``: where in the run the line was measured;
- ``throughput_ops_per_s``; ``alloc_p50_ns``, ``alloc_p99_ns``, ``free_p50_ns``, ``free_p99_ns``;
- ``overhead_ratio``: usable over requested bytes; ``peak_live_bytes``; beyond the report's:
  ``resident_over_live``, ``peak_resident_bytes``;
- ``others``: what else the experiment gives, ``name=value`` in its own units;
- ``elapsed_ns``, ``operations``: of the timed regions of the repeat;
- ``warm_up``, ``kept``: 1 or 0, whether a rule left the line out of the statistics;
- ``status``: ``ok``, or how the process ended; one that yielded nothing has a line without figures.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from heapwise.document.spreadsheet import cell_text
from heapwise.model import Process, Sample, short_name
from heapwise.report.view import View

NAME, SUFFIX, MIME = "allocatorbench", "csv", "text/csv"
ABOUT = "the raw timing data of AllocatorBench: a line for each repeat, of runs of the heap family"

PLACE = ("workload", "allocator", "threads", "parameters", "round", "repeat", "process")
FIGURES = {
    "throughput_ops_per_s": "throughput",
    "alloc_p50_ns": "alloc_p50",
    "alloc_p99_ns": "alloc_p99",
    "free_p50_ns": "free_p50",
    "free_p99_ns": "free_p99",
    "overhead_ratio": "overhead_ratio",
    "peak_live_bytes": "peak_live",
    "resident_over_live": "resident_over_live",
    "peak_resident_bytes": "peak_resident",
}
FACTS = ("elapsed_ns", "operations")
FATE = ("warm_up", "kept", "status")

PER_SECOND = {"Gops/s": 1e9, "Mops/s": 1e6, "kops/s": 1e3, "ops/s": 1.0}


def write(view: View) -> str:
    stored = view.evidence.stored
    units = {(e.id, q.name): q.unit for e in stored.run.experiments for q in e.quantities}
    kept = {(s.process, s.repeat) for s in view.evidence.filtered.kept}
    by_process: dict[int, list[Sample]] = {}
    for sample in stored.samples:
        by_process.setdefault(sample.process, []).append(sample)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*PLACE, *FIGURES, "others", *FACTS, *FATE])
    for process in stored.processes:
        if process.facts.counting:
            continue
        samples = by_process.get(process.number, [])
        for sample in samples:
            writer.writerow(
                [
                    *_place(process, sample.repeat),
                    *_figures(sample, units),
                    _others(sample),
                    _plain(sample.facts.elapsed_ns),
                    _plain(sample.facts.operations),
                    int(sample.warm_up),
                    int((sample.process, sample.repeat) in kept),
                    process.status,
                ]
            )
        if not samples:
            nothing = [""] * (len(FIGURES) + 1 + len(FACTS))
            writer.writerow(
                [*_place(process, ""), *nothing, int(process.warm_up), 0, process.status]
            )
    return text.getvalue()


def _place(process: Process, repeat: object) -> list[object]:
    others = " ".join(
        f"{name}={value}" for name, value in process.parameters.items() if name != "threads"
    )
    found = [
        process.experiment.rpartition("/")[2],
        short_name(process.subject),
        process.parameters.get("threads", 1),
        others,
        process.round,
        repeat,
        process.number,
    ]
    return [cell_text(value) for value in found]


def _figures(sample: Sample, units: Mapping[tuple[str, str], str]) -> list[object]:
    found: list[object] = []
    for column, quantity in FIGURES.items():
        value = sample.values.get(quantity)
        unit = units.get((sample.experiment, quantity), "")
        if value is not None and column == "throughput_ops_per_s":
            factor = PER_SECOND.get(unit)
            value = None if factor is None else value * factor
        found.append(_plain(value))
    return found


def _others(sample: Sample) -> str:
    return " ".join(
        f"{name}={_plain(value)}"
        for name, value in sample.values.items()
        if name not in FIGURES.values()
    )


def _plain(value: Any) -> object:
    """Whole numbers without a point; nothing for None."""
    if value is None:
        return ""
    return int(value) if isinstance(value, float) and value.is_integer() else value
