"""Reading runs back, forgiving with lines, strict with ``run.json``."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any

from heapwise.errors import Problem
from heapwise.model import EXPERIMENT_ID, RUN_ID, Process, Run, Sample
from heapwise.store import codec
from heapwise.store.location import RUNS
from heapwise.store.migrate import migrate
from heapwise.store.stored_run import StoredRun

RUN_FILE, SAMPLES_FILE = "run.json", "samples.jsonl"

SETTING = (bool, int, float, str, type(None))
"""The types of a parameter's value."""


def read_run(store_path: Path | str, run_id: str) -> StoredRun:
    """The run named by ``run_id``: an id, a unique beginning of one, ``last``, or a run's folder.

    Problems: E004 no such run, E060 newer schema, E061 damaged, E050 not readable.
    """
    folder = resolve_run(Path(store_path), run_id)
    document = read_document(folder)
    try:
        run = codec.convert(document, Run)
        if not all(experiment.quantities for experiment in run.experiments):
            raise ValueError("an experiment of it has no quantity")
    except ValueError as error:
        raise Problem("E061", f"{folder / RUN_FILE} does not hold a run: {error}") from error
    _check_ids(run, folder / RUN_FILE)
    quantities = {e.id: {quantity.name for quantity in e.quantities} for e in run.experiments}
    processes, samples, damaged = _read_lines(folder / SAMPLES_FILE, quantities)
    return StoredRun(folder, run, processes, samples, damaged)


def _check_ids(run: Run, path: Path) -> None:
    """Runs are sent from one to another, and files are named like what they hold."""
    forms = [(run.id, RUN_ID), *((experiment.id, EXPERIMENT_ID) for experiment in run.experiments)]
    for id, form in forms:
        if not re.fullmatch(form, id):
            raise Problem("E061", f"{path} holds '{id}', not an id of a run or an experiment",
                          why="An id that is a path could lead to other files.",
                          do="ask for the run as it was measured")


def read_document(folder: Path) -> dict[str, Any]:
    """``run.json`` as a dictionary of today's schema, unknown keys included."""
    path = folder / RUN_FILE
    try:
        document = codec.decode_object(codec.read_regular(path))
    except FileNotFoundError as error:
        raise Problem("E061", f"{path} is missing") from error
    except OSError as error:
        raise Problem("E050", f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Problem("E061", f"{path} cannot be understood: {error}") from error
    return migrate(document, str(path))


def run_ids(store_path: Path | str) -> list[str]:
    """Ids of all runs, oldest first."""
    runs = Path(store_path) / RUNS
    try:
        folders = [entry for entry in runs.iterdir() if (entry / RUN_FILE).exists()]
    except OSError:
        return []
    return [folder.name for folder in sorted(folders, key=_created)]


def resolve_run(store_path: Path, run_id: str) -> Path:
    """The folder of a run. Problem E004 with the nearest ids when there is none."""
    as_folder = Path(run_id)
    if "/" in run_id and (as_folder / RUN_FILE).exists():
        return as_folder.absolute()
    ids = run_ids(store_path)
    if run_id in ("last", "latest") and ids:
        return store_path / RUNS / ids[-1]
    matches = [run_id] if run_id in ids else [name for name in ids if name.startswith(run_id)]
    if len(matches) == 1 and run_id:
        return store_path / RUNS / matches[0]
    raise Problem("E004", _no_such_run(store_path, run_id, ids, matches))


def _no_such_run(store_path: Path, run_id: str, ids: list[str], matches: list[str]) -> str:
    if run_id and len(matches) > 1:
        return f"'{run_id}' is the beginning of {len(matches)} runs: {', '.join(matches)}"
    if not ids:
        return f"no run '{run_id}': the store {store_path} is empty"
    near = difflib.get_close_matches(run_id, ids, n=1)
    hint = f"; did you mean {near[0]}?" if near else f"; the last one is {ids[-1]}"
    return f"no run '{run_id}' in {store_path}{hint}"


def _created(folder: Path) -> tuple[str, str]:
    try:
        document = codec.decode_object(codec.read_regular(folder / RUN_FILE))
        return str(document.get("created", "")), folder.name
    except (OSError, ValueError):
        return "", folder.name


def _read_lines(
    path: Path, quantities: dict[str, set[str]]
) -> tuple[list[Process], list[Sample], int]:
    """Whole lines only: a last line without its end was torn by a crash and never counted."""
    records: list[Process | Sample] = []
    damaged = 0
    try:
        text = codec.read_regular(path)
    except FileNotFoundError:
        return [], [], damaged
    except OSError as error:
        raise Problem("E050", f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Problem("E061", f"{path} cannot be read: {error}") from error
    for line in text.split(b"\n")[:-1]:
        try:
            records.append(_record(line, quantities))
        except ValueError:
            damaged += 1
    processes, samples = _consistent(records)
    return processes, samples, damaged + len(records) - len(processes) - len(samples)


def _consistent(records: list[Process | Sample]) -> tuple[list[Process], list[Sample]]:
    """Without what contradicts an earlier line: a number is one process, a repeat one sample."""
    processes: dict[int, Process] = {}
    for record in records:
        if isinstance(record, Process):
            processes.setdefault(record.number, record)
    samples: dict[tuple[int, int], Sample] = {}
    for record in records:
        if isinstance(record, Sample) and _belongs(record, processes.get(record.process)):
            samples.setdefault((record.process, record.repeat), record)
    return list(processes.values()), list(samples.values())


def _belongs(sample: Sample, process: Process | None) -> bool:
    """A process that was interrupted has no line yet."""
    return process is None or (
        (sample.experiment, sample.subject, sample.round, sample.parameters)
        == (process.experiment, process.subject, process.round, process.parameters))


def _record(line: bytes, quantities: dict[str, set[str]]) -> Process | Sample:
    """``quantities``: of each experiment of the run. ValueError for what does not fit them."""
    record = codec.decode_record(line)
    if not all(isinstance(value, SETTING) for value in record.parameters.values()):
        raise ValueError("a parameter of it is neither a number nor a word")
    if record.experiment not in quantities:
        raise ValueError("of an experiment that the run does not have")
    if isinstance(record, Sample) and not record.values.keys() <= quantities[record.experiment]:
        raise ValueError("it has values of no quantity")
    return record
