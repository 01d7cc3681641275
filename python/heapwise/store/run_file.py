"""``run.json``: what a run is, without its samples."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from heapwise.errors import Problem
from heapwise.model import EXPERIMENT_ID, RUN_ID, Run
from heapwise.model.json_value import Json
from heapwise.store import codec
from heapwise.store.location import RUN_FILE
from heapwise.store.migrate import migrate


def read_run_file(folder: Path) -> Run:
    """Problems: E060 newer schema, E061 damaged, E050 not readable."""
    path = folder / RUN_FILE
    document = read_document(folder)
    try:
        run = codec.convert(document, Run)
        if not all(experiment.quantities for experiment in run.experiments):
            raise ValueError("an experiment of it has no quantity")
    except ValueError as error:
        raise Problem("E061", f"{path} does not hold a run: {error}") from error
    _check_ids(run, path)
    _check_names(run, path)
    return run


def _check_ids(run: Run, path: Path) -> None:
    """Runs are sent from one to another, and files are named like what they hold."""
    forms = [(run.id, RUN_ID), *((experiment.id, EXPERIMENT_ID) for experiment in run.experiments)]
    for id, form in forms:
        if not re.fullmatch(form, id):
            raise Problem(
                "E061",
                f"{path} holds '{id}', not an id of a run or an experiment",
                why="An id that is a path could lead to other files.",
                do="ask for the run as it was measured",
            )


def _check_names(run: Run, path: Path) -> None:
    """If two declarations have one name, nothing says which one the samples follow."""
    declared = [("experiment", [experiment.id for experiment in run.experiments])]
    declared += [
        (f"quantity of {experiment.id}", [q.name for q in experiment.quantities])
        for experiment in run.experiments
    ]
    for what, names in declared:
        for name, count in Counter(names).items():
            if count > 1:
                raise Problem(
                    "E061",
                    f"{path} declares the {what} '{name}' twice",
                    why="The two declarations may say different things.",
                    do="ask for the run as it was measured",
                )


def read_document(folder: Path) -> dict[str, Json]:
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
