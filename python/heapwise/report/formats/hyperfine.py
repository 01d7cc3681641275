"""hyperfine's ``--export-json``: an object with ``results``, times in seconds."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable

from heapwise.model import Process, Row
from heapwise.model.json_value import Json
from heapwise.report.view import Group, View

NAME, SUFFIX, MIME = "hyperfine", "json", "application/json"
ABOUT = "the results schema of hyperfine --export-json"

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ns/op": 1e-9}


def write(view: View) -> str:
    groups = [g for g in view.groups if g.unit in SECONDS]
    if view.is_compare:
        groups = [g for g in groups if g.quantity == "wall_time"]
    results = [
        _entry(view, group, row) for group in groups for row in group.rows if row.median is not None
    ]
    return json.dumps({"results": results}, indent=2) + "\n"


def _entry(view: View, group: Group, row: Row) -> dict[str, Json]:
    factor = SECONDS[row.unit]
    processes = _processes(view, row)
    entry: dict[str, Json] = {
        "command": _command(view, row),
        "mean": _scaled(row.mean, factor),
        "stddev": _scaled(row.stddev, factor),
        "median": _scaled(row.median, factor),
        "user": _mean(p.facts.user_s for p in processes),
        "system": _mean(p.facts.system_s for p in processes),
        "min": _scaled(row.min, factor),
        "max": _scaled(row.max, factor),
        "times": [value * factor for value in row.values],
        "exit_codes": [p.facts.exit_code or 0 for p in processes],
        "parameters": {
            k: str(v)
            for k, v in {"subject": row.subject, **row.parameters, "quantity": row.quantity}.items()
        },
    }
    peaks = [p.facts.peak_rss_bytes for p in processes]
    if view.is_compare and all(peaks):
        entry["memory_usage_byte"] = [int(peak) for peak in peaks if peak]
    return entry


def _command(view: View, row: Row) -> str:
    """hyperfine tells results apart by this, so it names the subject."""
    program = row.experiment
    if view.is_compare:
        program = shlex.join(view.run.plan.build_of(row.subject).started(row.parameters))
    quantity = "" if view.is_compare else f"quantity={row.quantity}"
    return " ".join(w for w in (program, f"[{row.subject}]", str(row.parameters), quantity) if w)


def _processes(view: View, row: Row) -> list[Process]:
    numbers = {s.process for s in view.evidence.filtered.kept}
    tried = view.evidence.tried.get(row.cell.setup, {}).get(row.subject, [])
    return [process for process in tried if process.number in numbers]


def _mean(seconds: Iterable[float | None]) -> float:
    values = [value or 0.0 for value in seconds]
    return sum(values) / len(values) if values else 0.0


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
