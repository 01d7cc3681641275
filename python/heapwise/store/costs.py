"""How long the processes of an experiment took before: what a plan can be estimated from."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import mean

from heapwise.store import codec
from heapwise.store.location import RUNS
from heapwise.store.reader import RUN_FILE, SAMPLES_FILE, run_ids

RUNS_READ = 6
"""The newest of the store: an estimate shall not cost more than it is worth."""

PROCESS = b'"kind":"process"'


def costs(store_path: Path | str, smoke: bool) -> dict[str, float]:
    """Experiment -> mean seconds of a process, from the newest run that has it.

    Of smoke runs or of the others. Runs that cannot be read are passed over.
    """
    found: dict[str, float] = {}
    for run in reversed(run_ids(store_path)[-RUNS_READ:]):
        try:
            taken = _of_run(Path(store_path) / RUNS / run, smoke)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
        found = taken | found
    return found


def _of_run(folder: Path, smoke: bool) -> dict[str, float]:
    document = codec.decode_object(codec.read_regular(folder / RUN_FILE))
    if document["plan"]["kind"] != "run" or bool(document["plan"].get("smoke")) != smoke:
        return {}
    taken: dict[str, list[float]] = defaultdict(list)
    for line in codec.read_regular(folder / SAMPLES_FILE).split(b"\n"):
        if PROCESS in line:
            process = codec.decode_object(line)
            wall_s = process["facts"].get("wall_s")
            if wall_s and not process["facts"].get("counting"):
                taken[process["experiment"]].append(float(wall_s))
    return {experiment: mean(seconds) for experiment, seconds in taken.items()}
