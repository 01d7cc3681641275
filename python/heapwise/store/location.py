"""Where runs are kept: ``.heapwise`` here or above, as git does, else the user's data folder."""

from __future__ import annotations

import os
from pathlib import Path

STORE_NAME = ".heapwise"


def find_store(explicit: str | Path | None = None, start: Path | None = None) -> Path:
    """The store's folder, whether or not it exists yet.

    Order: ``explicit`` (``--store``), ``HEAPWISE_STORE``, ``.heapwise`` in ``start`` (default: the
    working directory) or one of its parents, ``$XDG_DATA_HOME/heapwise``.
    """
    if explicit:
        return Path(explicit).expanduser().absolute()
    if from_environment := os.environ.get("HEAPWISE_STORE"):
        return Path(from_environment).expanduser().absolute()
    here = (start or Path.cwd()).absolute()
    for folder in (here, *here.parents):
        if (folder / STORE_NAME).is_dir():
            return folder / STORE_NAME
    return _data_home() / "heapwise"


def _data_home() -> Path:
    configured = os.environ.get("XDG_DATA_HOME", "")
    if configured.startswith("/"):
        return Path(configured)
    return Path(os.environ.get("HOME") or "/tmp") / ".local" / "share"
