"""Folders and files that only their owner can read: command lines and output are nobody else's."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

FOLDER, FILE = 0o700, 0o600

KEY_FILE = "key"
KEY_BYTES = 32


def make_private_folder(path: Path) -> None:
    """Creates what is missing of ``path`` and leaves what is there as it is. OSError on failure."""
    for folder in reversed([path, *path.parents]):
        if not folder.exists():
            folder.mkdir(FOLDER, exist_ok=True)


def store_key(store_path: Path) -> bytes:
    """Random bytes of this store, made when they are first asked for. OSError on failure.

    The key lies beside the runs and not in one: a run that is given away does not bring it along.
    """
    path = store_path / KEY_FILE
    if not path.exists():
        temporary = store_path / f".{KEY_FILE}.{os.getpid()}"
        created = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE)
        with os.fdopen(created, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with suppress(FileExistsError):
            path.hardlink_to(temporary)
        temporary.unlink()
    return path.read_bytes()


def key_name(key: bytes) -> str:
    """By which a key is recognised; it tells nothing of the key."""
    return hashlib.sha256(key).hexdigest()[:16]
