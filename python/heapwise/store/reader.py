"""Reading runs back, forgiving with lines, strict with ``run.json``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heapwise.errors import Problem
from heapwise.model import Experiment, Process, Sample
from heapwise.store import codec
from heapwise.store.listing import resolve_run
from heapwise.store.location import SAMPLES_FILE
from heapwise.store.run_file import read_run_file
from heapwise.store.stored_run import StoredRun

LEAST_VALUE, MOST_VALUE = 1e-15, 1e25
"""Nothing that is measured is beyond these in its unit, so ratios, squares and the ends of
intervals of values between them stay finite."""


@dataclass(frozen=True)
class _Declared:
    """What the lines of an experiment may hold."""

    quantities: frozenset[str]
    parameters: frozenset[str]

    @staticmethod
    def of(experiment: Experiment) -> _Declared:
        return _Declared(
            frozenset(quantity.name for quantity in experiment.quantities),
            frozenset(parameter.name for parameter in experiment.parameters),
        )


def read_run(store_path: Path | str, run_id: str) -> StoredRun:
    """The run named by ``run_id``: an id, a unique beginning of one, ``last``, or a run's folder.

    Problems: E004 no such run, E060 newer schema, E061 damaged, E050 not readable.
    """
    folder = resolve_run(Path(store_path), run_id)
    run = read_run_file(folder)
    experiments = {experiment.id: _Declared.of(experiment) for experiment in run.experiments}
    processes, samples, damaged = _read_lines(folder / SAMPLES_FILE, experiments)
    return StoredRun(folder, run, processes, samples, damaged)


def _read_lines(
    path: Path, experiments: dict[str, _Declared]
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
            records.append(_record(line, experiments))
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
        == (process.experiment, process.subject, process.round, process.parameters)
    )


def _record(line: bytes, experiments: dict[str, _Declared]) -> Process | Sample:
    """ValueError for what does not fit the experiments of the run."""
    record = codec.decode_record(line)
    declared = experiments.get(record.experiment)
    if declared is None:
        raise ValueError("of an experiment that the run does not have")
    if isinstance(record, Sample):
        if record.parameters.keys() != declared.parameters:
            raise ValueError("its parameters are not those of the experiment")
        if not record.values.keys() <= declared.quantities:
            raise ValueError("it has values of no quantity")
        if not all(map(_can_be_measured, record.values.values())):
            raise ValueError("it has a value that cannot have been measured")
    return record


def _can_be_measured(value: float) -> bool:
    return value == 0 or LEAST_VALUE <= abs(value) <= MOST_VALUE
