"""The newest self-test of each machine and build, beside the runs of a store."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

import msgspec

from heapwise.errors import Problem
from heapwise.model import SelfTest
from heapwise.store.private import FILE, make_private_folder

FOLDER = "selftests"
LARGEST_BYTES = 1 << 20


def write_self_test(store_path: Path, result: SelfTest) -> Path:
    """Replaces the one of the same machine and build. Problem E050 if it cannot be written."""
    path = _path(store_path, result.machine, result.build)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        make_private_folder(path.parent)
        created = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, FILE)
        with os.fdopen(created, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise Problem("E050", f"{path} cannot be written: {error.strerror}") from error
    return path


def read_self_test(store_path: Path, machine: str, build: str) -> SelfTest | None:
    """None if there is none, or if it is damaged or of another machine or build."""
    path = _path(store_path, machine, build)
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_BYTES:
            return None
        found = msgspec.json.decode(path.read_bytes(), type=SelfTest)
    except (OSError, ValueError):
        return None
    return found if (found.machine, found.build) == (machine, build) else None


def _path(store_path: Path, machine: str, build: str) -> Path:
    name = re.sub(r"[^0-9a-z-]", "", f"{machine}-{build}")
    return store_path / FOLDER / f"{name}.json"
