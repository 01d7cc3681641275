"""The peers that ``peers add`` built: one folder for each version, with a record of its making."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec

RECORD = "made.json"
PARTIAL = ".partial-"
"""Starts the names of folders in the making, which are nobody's peers yet."""


class AddedPeer(msgspec.Struct, frozen=True):
    """What was built, out of what, by what. ``recipe`` is the fingerprint of the declaration."""

    version: str
    library: str
    package: str
    compiler: str
    recipe: str
    build_id: str
    made: str


def data_folder() -> Path:
    """The user's data folder of ours: below ``XDG_DATA_HOME``, else below ``~/.local/share``."""
    configured = Path(os.environ.get("XDG_DATA_HOME", ""))
    # The specification of these folders wants relative paths ignored.
    data = configured if configured.is_absolute() else Path.home() / ".local" / "share"
    return data / "heapwise"


def added_folder() -> Path:
    """Where the peers are that were added."""
    return data_folder() / "peers"


def read_record(name: str, version: str) -> AddedPeer | None:
    """None when this version was not added, or its library is gone."""
    return _read(added_folder() / name / version)


def newest_record(name: str, wanted: str) -> AddedPeer | None:
    """Of the wanted version, else of the one that was made last; None when there is none."""
    if found := read_record(name, wanted):
        return found
    records = [_read(path.parent) for path in (added_folder() / name).glob(f"*/{RECORD}")
               if not path.parent.name.startswith(PARTIAL)]
    return max((record for record in records if record), key=lambda r: r.made, default=None)


def library_of(name: str, record: AddedPeer) -> Path:
    return added_folder() / name / record.version / record.library


def forget(name: str) -> bool:
    """Removes every version of an added peer; False when there was none. OSError if it stays."""
    folder = added_folder() / name
    if not folder.is_dir():
        return False
    shutil.rmtree(folder)
    return True


def _read(folder: Path) -> AddedPeer | None:
    try:
        record = msgspec.json.decode((folder / RECORD).read_bytes(), type=AddedPeer)
    except (OSError, ValueError):
        return None
    return record if (folder / record.library).is_file() else None
