"""Where runs are kept: ``.heapwise`` here or above, as git does, else the user's data folder."""

from __future__ import annotations

import os
from pathlib import Path

from heapwise.errors import Problem
from heapwise.store.ownership import demand_own

STORE_NAME, RUNS = ".heapwise", "runs"
RUN_FILE, SAMPLES_FILE = "run.json", "samples.jsonl"
NAME_ONE = "--store DIR or HEAPWISE_STORE names another"


def find_store(explicit: str | Path | None = None, start: Path | None = None) -> Path:
    """The store's folder, whether or not it exists yet.

    Order: ``explicit`` (``--store``), ``HEAPWISE_STORE``, ``.heapwise`` in ``start`` (default: the
    working directory) or one of its parents, ``$XDG_DATA_HOME/heapwise``. Problems: E005 for a
    ``.heapwise`` of another user, E050 if there is no place for a store.
    """
    if explicit:
        return Path(explicit).expanduser().absolute()
    if from_environment := os.environ.get("HEAPWISE_STORE"):
        return Path(from_environment).expanduser().absolute()
    here = (start or Path.cwd()).absolute()
    for folder in (here, *here.parents):
        if os.path.isdir(folder / STORE_NAME):  # noqa: PTH112  False where we may not look
            return _own(folder / STORE_NAME)
    return _data_home() / "heapwise"


def _data_home() -> Path:
    configured = os.environ.get("XDG_DATA_HOME", "")
    if configured.startswith("/"):
        return Path(configured)
    if home := os.environ.get("HOME"):
        return Path(home) / ".local" / "share"
    raise Problem(
        "E050",
        "there is no place for a store: HOME is not set",
        why="Runs are kept in the user's data folder unless another place is named.",
        do="--store DIR or HEAPWISE_STORE with a folder that you may write",
    )


def _own(store: Path) -> Path:
    """A store that was found, not named. Its runs may lead to another disk, not to another user."""
    for path in (store, store / RUNS):
        if os.path.lexists(path):
            demand_own(path, f"{NAME_ONE}; or mkdir {STORE_NAME} here")
    return store
