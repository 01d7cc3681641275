"""What the engine changes: the same comparison here and under a worker, in turn."""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
from scipy import stats

from heapwise.store import read_run, run_ids

PROGRAM = ("perl", "-e", 'my %h; for (1..12) { %h = (); $h{$_} = "x" x ($_ % 90) for 1..20000 }')
ALLOCATORS = "glibc,heapwise"
QUANTITY = "wall_time"


class Influence(msgspec.Struct, frozen=True):
    """Time under a worker over time without one. low, high: the 95 % interval of the mean of the
    pairs' logarithms."""

    what: str
    ratio: float
    low: float
    high: float


def measure_influence(pairs: int, rounds: int) -> list[Influence]:
    """Each pair is a run without and a run with the engine, the first of them in turn."""
    logs: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="heapwise-fleet-figures-") as name:
        folder = Path(name)
        (folder / "hosts.toml").write_text('one = "local"\n')
        for pair in range(pairs):
            found: dict[bool, dict[str, float]] = {}
            for with_engine in (pair % 2 == 0, pair % 2 == 1):
                found[with_engine] = _medians(folder, rounds, with_engine)
            for subject, seconds in found[True].items():
                logs.setdefault(subject, []).append(math.log(seconds / found[False][subject]))
            print(f"pair {pair + 1} of {pairs}", file=sys.stderr)
    subjects = list(logs)
    rows = [_influence(subject, values) for subject, values in logs.items()]
    for other in subjects[1:]:  # what a comparison prints; of the control it is the A/A test
        rows.append(_influence(f"{other} over {subjects[0]}", [
            b - a for a, b in zip(logs[subjects[0]], logs[other], strict=True)]))
    return rows


def _medians(folder: Path, rounds: int, with_engine: bool) -> dict[str, float]:
    """Subject -> the median of its samples, in seconds."""
    store = folder / "store"
    fleet = ("--fleet", str(folder / "hosts.toml")) if with_engine else ()
    known = set(run_ids(store)) if store.is_dir() else set()
    done = subprocess.run(
        [sys.executable, "-m", "heapwise", "compare", *fleet, "--store", str(store), "--rounds",
         str(rounds), "--allocators", ALLOCATORS, "--quiet", "--", *PROGRAM], cwd=folder,
        env=os.environ | {"HEAPWISE_FLEET_FOLDER": str(folder / "machine"),
                          "HEAPWISE_FLEET_LOCK": str(folder / "host-lock")},
        capture_output=True, check=False)
    new = [run for run in run_ids(store) if run not in known]
    if len(new) != 1:
        raise SystemExit(f"error: nothing was measured: {done.stderr.decode()[-500:]}")
    found: dict[str, list[float]] = {}
    for sample in read_run(store, new[0]).samples:
        if not sample.warm_up and QUANTITY in sample.values:
            found.setdefault(sample.subject, []).append(float(sample.values[QUANTITY]))
    return {subject: statistics.median(values) for subject, values in sorted(found.items())}


def _influence(what: str, logs: list[float]) -> Influence:
    mean = statistics.fmean(logs)
    half = stats.t.ppf(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return Influence(what, math.exp(mean), math.exp(mean - half), math.exp(mean + half))
