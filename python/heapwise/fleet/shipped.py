"""Files that a command line names, on the machine that measures: found or received by hash."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

import msgspec

from heapwise.errors import Problem
from heapwise.fleet.job import LARGEST_BYTES, ShippedFile

FOLDER_VARIABLE = "HEAPWISE_FLEET_FOLDER"


class Parcel(msgspec.Struct, frozen=True):
    """A file on its way to a host. folder: as a job has it."""

    folder: str
    file: ShippedFile
    content: bytes


def base_folder(chosen: str) -> Path:
    folder = chosen or os.environ.get(FOLDER_VARIABLE) or "~/.local/share/heapwise/fleet"
    return Path(folder).expanduser()


def place_of(base: Path) -> str:
    """Equal for all names of one host that keep their files in one folder."""
    return f"{socket.gethostname()}:{base}"


def find_shipped(file: ShippedFile, base: Path) -> str | None:
    """Where this machine has a file of the hash; None if it has to be sent. Problem E010 if the
    machine has none and it is too large to be sent."""
    kept = _kept(file, base)
    for path in (Path(file.path), kept):
        if _sha256(path) == file.sha256:
            return str(path)
    if file.size > LARGEST_BYTES:
        raise Problem(
            "E010",
            f"{file.path} is not on this machine, or is another file",
            why="It is too large to be sent.",
            do="copy it there under the same path",
        )
    return None


def receive(content: bytes) -> bytes:
    """A task of the engine: keeps a ``Parcel``, and returns why it could not, or nothing. It never
    raises."""
    parcel = msgspec.msgpack.decode(content, type=Parcel)
    base = base_folder(parcel.folder)
    try:
        if find_shipped(parcel.file, base) is None:
            _keep(parcel, _kept(parcel.file, base))
    except OSError as error:
        return f"{base} of {socket.gethostname()}: {error.strerror}".encode()
    return b""


def _keep(parcel: Parcel, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(parcel.content)
        part.chmod(0o700 if parcel.file.executable else 0o600)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _kept(file: ShippedFile, base: Path) -> Path:
    return base / "files" / file.sha256 / Path(file.path).name


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
