"""The peers that ``peers add`` built: one folder for each version, with a record of its making.

In a fleet, peers of the client's machine are sent to others, in folders of the same form. The
wheel ``heapwise-peers`` contains folders of this form, too.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

RECORD = "made.json"
SENT_VARIABLE = "HEAPWISE_SENT_PEERS"
"""Folders like ``added_folder()``, with a colon between two; they go first."""

WHEEL_PACKAGE = "heapwise_peers"
"""The Python package of the wheel that contains built peers."""

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


def sent_folders() -> list[Path]:
    """The folders of peers that another machine built for this one."""
    return [Path(name) for name in os.environ.get(SENT_VARIABLE, "").split(":") if name]


def packaged_folder() -> Path | None:
    """The folder of peers of the installed wheel ``heapwise-peers``; None without that wheel."""
    found = importlib.util.find_spec(WHEEL_PACKAGE)
    places = list(found.submodule_search_locations or []) if found else []
    return Path(places[0]) / "peers" if places else None


def is_packaged(library: Path) -> bool:
    """Whether a library belongs to the wheel ``heapwise-peers``."""
    folder = packaged_folder()
    return folder is not None and library.is_relative_to(folder)


def read_record(name: str, version: str) -> AddedPeer | None:
    """None when neither the user nor the wheel has this version, or its library is gone."""
    records = (_read(folder / name / version) for folder in _built_folders())
    return next((record for record in records if record), None)


def newest_record(name: str, wanted: str) -> AddedPeer | None:
    """The record of what was sent, else of the wanted version, else the one that was made last;
    None when there is none."""
    for folder in sent_folders():
        for path in (folder / name).glob(f"*/{RECORD}"):
            if found := _read(path.parent):
                return found
    if found := read_record(name, wanted):
        return found
    records = [_read(path) for path in versions_of(name)]
    return max((record for record in records if record), key=lambda r: r.made, default=None)


def versions_of(name: str) -> list[Path]:
    """The folders of this peer's versions that the user or the wheel has."""
    return [
        path.parent
        for folder in _built_folders()
        for path in (folder / name).glob(f"*/{RECORD}")
        if not path.parent.name.startswith(PARTIAL)
    ]


def library_of(name: str, record: AddedPeer) -> Path:
    """The file of a record that ``newest_record`` or ``read_record`` found."""
    inside = Path(name) / record.version / record.library
    folders = [*sent_folders(), *_built_folders()]
    found = (folder / inside for folder in folders if _read((folder / inside).parent) == record)
    return next(found, added_folder() / inside)


def forget(name: str) -> bool:
    """Removes every version of an added peer; False when there was none. OSError if it stays."""
    folder = added_folder() / name
    if not folder.is_dir():
        return False
    shutil.rmtree(folder)
    return True


def _built_folders() -> Iterator[Path]:
    """Peers that the user built go before those of the wheel."""
    yield added_folder()
    if packaged := packaged_folder():
        yield packaged


def _read(folder: Path) -> AddedPeer | None:
    try:
        record = msgspec.json.decode((folder / RECORD).read_bytes(), type=AddedPeer)
    except (OSError, ValueError):
        return None
    return record if (folder / record.library).is_file() else None
