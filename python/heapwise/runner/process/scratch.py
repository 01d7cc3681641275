"""The folder for the files of one process of ours: private, and removed when it is done."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

PREFIX, LOCK, NEW_LOCK = "heapwise-scratch-", ".heapwise-scratch", ".heapwise-scratch-new"
"""Names of our own making alone: a folder heapwise-results of a user, with a lock in it, is
theirs."""


class ScratchFolder:
    """A new folder below the temporary one, until ``cleanup`` or the end of the process.

    A process that is killed leaves its folder behind; the next one removes it. The lock in it tells
    which: the kernel takes a lock back when its owner ends.
    """

    def __init__(self) -> None:
        sweep(Path(tempfile.gettempdir()))
        self._folder = tempfile.TemporaryDirectory(prefix=PREFIX)
        self.path = Path(self._folder.name)
        self._lock = _held_lock(self.path)

    def cleanup(self) -> None:
        self._folder.cleanup()
        self._lock.close()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def _held_lock(folder: Path) -> BinaryIO:
    """The lock of a new folder. It gets its name when it is held: another process would take a
    lock that is free for one whose owner has ended, and remove the folder."""
    file = (folder / NEW_LOCK).open("wb")
    with suppress(OSError):  # on a file system without locks no process removes a folder
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (folder / NEW_LOCK).rename(folder / LOCK)
    return file


def sweep(base: Path) -> None:
    """Removes the folders of this user in ``base`` whose owner has ended. Never fails."""
    with suppress(OSError):
        for folder in base.glob(f"{PREFIX}*"):
            with suppress(OSError):
                if folder.lstat().st_uid == os.getuid() and not folder.is_symlink():
                    _remove_abandoned(folder)


def _remove_abandoned(folder: Path) -> None:
    """OSError if the folder has no lock, or its owner still holds it."""
    with ExitStack() as stack:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
