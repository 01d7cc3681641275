"""How long the processes of an experiment took before: what a plan can be estimated from."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Literal

import msgspec

from heapwise.model import ProcessFacts
from heapwise.store import codec
from heapwise.store.location import RUNS
from heapwise.store.reader import RUN_FILE, SAMPLES_FILE, run_ids

RUNS_READ = 6
"""The newest of the store: an estimate shall not cost more than it is worth."""

PROCESS = b'"kind":"process"'


class _Plan(msgspec.Struct):
    kind: str
    smoke: bool = False


class _Run(msgspec.Struct):
    """The part of ``run.json`` that is read here."""

    plan: _Plan


class _Process(msgspec.Struct):
    """The part of a process line that is read here."""

    kind: Literal["process"]
    experiment: str
    facts: ProcessFacts


def costs(store_path: Path | str, smoke: bool) -> dict[str, float]:
    """Experiment -> mean seconds of a process, from the newest run that has it.

    Of smoke runs or of the others. Runs that cannot be read are passed over.
    """
    found: dict[str, float] = {}
    for run in reversed(run_ids(store_path)[-RUNS_READ:]):
        try:
            taken = _of_run(Path(store_path) / RUNS / run, smoke)
        except (OSError, ValueError, RecursionError):
            continue
        found = taken | found
    return found


def _of_run(folder: Path, smoke: bool) -> dict[str, float]:
    plan = msgspec.json.decode(codec.read_regular(folder / RUN_FILE), type=_Run).plan
    if plan.kind != "run" or plan.smoke != smoke:
        return {}
    taken: dict[str, list[float]] = defaultdict(list)
    for line in codec.read_regular(folder / SAMPLES_FILE).split(b"\n"):
        if PROCESS in line:
            process = msgspec.json.decode(line, type=_Process)
            if process.facts.wall_s and not process.facts.counting:
                taken[process.experiment].append(process.facts.wall_s)
    return {experiment: mean(seconds) for experiment, seconds in taken.items()}
