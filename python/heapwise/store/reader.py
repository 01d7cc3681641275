"""Reading runs back, forgiving with lines, strict with ``run.json``."""

from __future__ import annotations

from pathlib import Path

from heapwise.errors import Problem
from heapwise.model import Process, Sample
from heapwise.store import codec
from heapwise.store.listing import resolve_run
from heapwise.store.location import SAMPLES_FILE
from heapwise.store.run_file import read_run_file
from heapwise.store.stored_run import StoredRun

SETTING = (bool, int, float, str, type(None))
"""The types of a parameter's value."""


def read_run(store_path: Path | str, run_id: str) -> StoredRun:
    """The run named by ``run_id``: an id, a unique beginning of one, ``last``, or a run's folder.

    Problems: E004 no such run, E060 newer schema, E061 damaged, E050 not readable.
    """
    folder = resolve_run(Path(store_path), run_id)
    run = read_run_file(folder)
    quantities = {e.id: {quantity.name for quantity in e.quantities} for e in run.experiments}
    processes, samples, damaged = _read_lines(folder / SAMPLES_FILE, quantities)
    return StoredRun(folder, run, processes, samples, damaged)


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
