#!/usr/bin/env python3
"""Prints what the laboratory itself costs: listing, reports, analysis, programs of many processes.

    .venv/bin/python tools/show_costs.py                     this tree
    .venv/bin/python tools/show_costs.py --before ../old     beside another one, as a git worktree
    .venv/bin/python tools/show_costs.py --demo .heapwise    the report of the demo's runs, too

It takes five minutes for each tree; listing a thousand runs without an index takes most of it.

All stores are made of the runs in tests/data, whose samples are real. Seconds are those of the
processor, with 0.2 s or so for the start of Python.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "tests" / "data" / "runs"
SMALL, LARGE = RUNS / "c9d3", RUNS / "749d"
"""A comparison of 44 samples, and a run of 528."""

NOT_TRUSTWORTHY = 4
"""The exit code of a comparison on a noisy machine, or of one round."""

LISTED = 1000
COPIES = 70
"""Of the experiments of LARGE: about 37,000 samples, as `run shelf` takes."""

EXECS = 12_000
"""Processes that a program starts, as the build of a large program does."""


@dataclass(frozen=True)
class Cost:
    """``seconds`` are of the processor, so that neighbours matter less."""

    seconds: float
    mebibytes: float
    output: str


def execute(tree: Path, *words: str) -> Cost:
    """A command of Python with the package of ``tree``."""
    process = subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tree / "python"), "COLUMNS": "100"},
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, NOT_TRUSTWORTHY):
        sys.exit(f"{tree}: heapwise {' '.join(words)[:100]} failed")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def heapwise(tree: Path, *words: str) -> Cost:
    return execute(tree, "-m", "heapwise", *words)


def listing(tree: Path, place: Path) -> dict[str, str]:
    """Every command lists in a store of its own, so that the first one finds no index."""
    store = place / "listed"
    shutil.rmtree(store, ignore_errors=True)
    document = json.loads((SMALL / "run.json").read_text())
    for number in range(LISTED):
        folder = store / "runs" / f"{number:04x}"
        folder.mkdir(parents=True)
        created = f"2026-01-01T{number // 60:02}:{number % 60:02}:00+00:00"
        text = json.dumps({**document, "id": folder.name, "created": created}, indent=2)
        (folder / "run.json").write_text(text)
        shutil.copyfile(SMALL / "samples.jsonl", folder / "samples.jsonl")
    first, second = (heapwise(tree, "report", "--list", "--store", str(store)) for _ in range(2))
    assert len(second.output.splitlines()) == LISTED
    return {
        f"list {LISTED:,} runs, the first time": f"{first.seconds:.2f} s",
        f"list {LISTED:,} runs": f"{second.seconds:.2f} s",
    }


def page(tree: Path, place: Path, store: Path, name: str) -> dict[str, str]:
    report = place / "report.html"
    cost = heapwise(
        tree, "report", "--all", "--store", str(store), "-o", str(report), "--open", "no"
    )
    return {
        f"report of {name}": f"{report.stat().st_size / 1e6:.2f} MB, {cost.seconds:.1f} s, "
        f"{cost.mebibytes:.0f} MiB"
    }


def many_processes(tree: Path, place: Path) -> dict[str, str]:
    """A comparison of one round: how much of it is stored and held for the processes that the
    program starts."""
    store = place / "execs"
    shutil.rmtree(store, ignore_errors=True)
    loop = f"i=0; while [ $i -lt {EXECS} ]; do /bin/true; i=$((i+1)); done; echo $i"
    cost = heapwise(
        tree,
        "compare",
        "--runs",
        "1",
        "--warmup",
        "0",
        "--allocators",
        "jemalloc",
        "--store",
        str(store),
        "--quiet",
        "--",
        "/bin/sh",
        "-c",
        loop,
    )
    [lines] = store.glob("runs/*/samples.jsonl")
    processes = lines.read_bytes().count(b'"kind":"process"')
    return {
        f"program of {EXECS:,} processes": f"{lines.stat().st_size / processes / 1e3:,.1f} kB "
        f"each time, {cost.mebibytes:.0f} MiB"
    }


def copies(place: Path) -> Path:
    """A run with the experiments of LARGE many times."""
    folder = place / "copies" / "runs" / "749d"
    folder.mkdir(parents=True, exist_ok=True)
    run = json.loads((LARGE / "run.json").read_text())
    run["experiments"] = [
        {**experiment, "id": f"{experiment['id']}-{copy}"}
        for copy in range(COPIES)
        for experiment in run["experiments"]
    ]
    run["plan"]["experiments"] = [experiment["id"] for experiment in run["experiments"]]
    (folder / "run.json").write_text(json.dumps(run))
    records = [json.loads(line) for line in (LARGE / "samples.jsonl").read_text().splitlines()]
    step = 1 + max(record["number"] for record in records if record["kind"] == "process")
    with (folder / "samples.jsonl").open("w") as lines:
        for copy in range(COPIES):
            for record in records:
                lines.write(_line(record, copy, copy * step))
    return folder.parents[1]


def _line(record: dict[str, Any], copy: int, offset: int) -> str:
    number = "number" if record["kind"] == "process" else "process"
    changed = {
        **record,
        "experiment": f"{record['experiment']}-{copy}",
        number: record[number] + offset,
    }
    return json.dumps(changed, separators=(",", ":")) + "\n"


def table(title: str, columns: dict[str, dict[str, str]]) -> str:
    names = list(next(iter(columns.values())))
    width = max(map(len, names))
    lines = [f"{title:{width}}  " + "".join(f"{name:28}" for name in columns)]
    lines += [
        f"{name:{width}}  " + "".join(f"{column[name]:28}" for column in columns.values())
        for name in names
    ]
    return "\n".join(line.rstrip() for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, metavar="TREE")
    parser.add_argument("--demo", type=Path, metavar="STORE")
    arguments = parser.parse_args()
    trees = {"before": arguments.before, "now": ROOT} if arguments.before else {"now": ROOT}
    with tempfile.TemporaryDirectory(prefix="heapwise-costs-") as folder:
        place = Path(folder)
        shelf = copies(place)
        columns = {}
        for name, tree in trees.items():
            columns[name] = {
                **listing(tree, place),
                **page(tree, place, shelf, "37,000 samples"),
                **page(tree, place, RUNS.parent, "tests/data"),
                **(page(tree, place, arguments.demo, "the demo") if arguments.demo else {}),
                **many_processes(tree, place),
            }
        print(table("", columns))


if __name__ == "__main__":
    main()
