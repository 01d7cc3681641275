"""How long the processes of an experiment take: what a plan can be estimated from."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from importlib import resources
from math import fsum
from pathlib import Path
from typing import Literal

import msgspec

from heapwise.errors import Problem
from heapwise.model import ProcessFacts
from heapwise.store import codec
from heapwise.store.listing import list_runs
from heapwise.store.location import SAMPLES_FILE
from heapwise.store.run_file import read_run_file

RUNS_READ = 6
"""How many of the newest runs are read: an estimate should not cost more than it is worth."""

WHOLE_ROUNDS = 2
"""Later processes may have fewer repeats, and the rounds for that time are not in a new plan."""

PROCESS = b'"kind":"process"'


class _Process(msgspec.Struct):
    """The part of a process line that is read here."""

    kind: Literal["process"]
    experiment: str
    facts: ProcessFacts
    round: int = 0


USUAL = "usual_costs.toml"
"""What processes took on the machine that the file names, for a store without runs."""

REPORTS = "reports"
"""Name of its table with a table for each published report."""


def usual_costs(report: str = "") -> dict[str, float]:
    """Experiment -> mean seconds of a process, on another machine than this: at default size, or in
    the cells of a published report. Empty if none were written down for the report."""
    text = resources.files(__package__).joinpath(USUAL).read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    return dict(tables[REPORTS].get(report, {}) if report else tables["seconds"])


def costs(store_path: Path | str, smoke: bool, report: str = "") -> dict[str, float]:
    """Experiment -> mean seconds of a process, from the newest run that has it.

    Of smoke runs or of the others; of runs in the cells of this report, or of those of no report.
    Runs that cannot be read are passed over.
    """
    found: dict[str, float] = {}
    for run in reversed(list_runs(store_path)[-RUNS_READ:]):
        if run.kind != "run" or run.smoke != smoke:
            continue
        try:
            if read_run_file(run.folder).plan.options.report != report:
                continue
            taken = _of_run(run.folder)
        except (OSError, ValueError, RecursionError, Problem):
            continue
        found = taken | found
    return found


def _of_run(folder: Path) -> dict[str, float]:
    taken: dict[str, list[float]] = defaultdict(list)
    for line in codec.read_regular(folder / SAMPLES_FILE).split(b"\n"):
        if PROCESS in line:
            process = msgspec.json.decode(line, type=_Process)
            if (
                process.facts.wall_s
                and not process.facts.counting
                and (process.round < WHOLE_ROUNDS)
            ):
                taken[process.experiment].append(process.facts.wall_s)
    return {experiment: fsum(seconds) / len(seconds) for experiment, seconds in taken.items()}
