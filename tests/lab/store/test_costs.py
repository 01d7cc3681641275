"""What earlier runs say of how long a process takes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import mean

import pytest

from heapwise.store import costs, read_run

DATA = Path(__file__).resolve().parents[2] / "data"


def test_the_mean_of_the_first_rounds_without_what_only_counted() -> None:
    stored = read_run(DATA, "749d")
    expected = {
        e.id: mean(
            float(p.facts.wall_s)
            for p in stored.processes
            if p.experiment == e.id and not p.facts.counting and p.round < 2
        )
        for e in stored.run.experiments
    }
    assert costs(DATA, stored.run.plan.smoke) == pytest.approx(expected)
    assert costs(DATA, not stored.run.plan.smoke) == {}


def test_damaged_runs_are_passed_over(tmp_path: Path) -> None:
    for name in ("aaaa", "bbbb"):
        shutil.copytree(DATA / "runs" / "749d", tmp_path / "runs" / name)
    (tmp_path / "runs" / "bbbb" / "samples.jsonl").write_text('{"kind":"process"')
    assert costs(tmp_path, smoke=False)
    (tmp_path / "runs" / "aaaa" / "run.json").write_text("{}")
    assert costs(tmp_path, smoke=False) == {}
    assert costs(tmp_path / "nowhere", smoke=False) == {}


def test_the_newest_run_counts(tmp_path: Path) -> None:
    for name, created, wall_s in (("aaaa", "2026-01-01", 5.0), ("bbbb", "2026-01-02", 7.0)):
        folder = tmp_path / "runs" / name
        shutil.copytree(DATA / "runs" / "749d", folder)
        document = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        (folder / "run.json").write_text(json.dumps({**document, "created": created}))
        process = {"kind": "process", "experiment": "pool/bulk", "facts": {"wall_s": wall_s}}
        (folder / "samples.jsonl").write_text(json.dumps(process, separators=(",", ":")) + "\n")
    assert costs(tmp_path, smoke=False) == {"pool/bulk": 7.0}


def test_the_runs_of_a_report_are_apart_from_the_others(tmp_path: Path) -> None:
    for name, report, wall_s in (("aaaa", None, 5.0), ("bbbb", "latency-lab", 7.0)):
        folder = tmp_path / "runs" / name
        shutil.copytree(DATA / "runs" / "749d", folder)
        document = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        if report is not None:
            document["plan"]["options"]["reproduction"] = {"report": report, "cells": {}}
        (folder / "run.json").write_text(json.dumps(document))
        process = {"kind": "process", "experiment": "pool/bulk", "facts": {"wall_s": wall_s}}
        (folder / "samples.jsonl").write_text(json.dumps(process, separators=(",", ":")) + "\n")
    assert costs(tmp_path, smoke=False) == {"pool/bulk": 5.0}
    assert costs(tmp_path, smoke=False, report="latency-lab") == {"pool/bulk": 7.0}
    assert costs(tmp_path, smoke=False, report="pool-policies") == {}
