"""One process at a time writes a run. The kernel takes the lock back when that process ends."""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

from heapwise.errors import Problem

PROC = Path("/proc")
LOCKS = PROC / "locks"


def lock(descriptor: int, folder: Path) -> None:
    """Locks an open file of a run until it is closed. Problem E006 if another process has it.

    A file system without locks is used without one.
    """
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        pid = _owner(status)
        who = f"process {pid}" if pid else "another process"
        raise Problem(
            "E006",
            f"run {folder.name} is being measured by {who}",
            do=f"wait until it has ended, or stop it{f': kill {pid}' if pid else ''}",
        ) from error
    except OSError:
        return


def is_locked(path: Path) -> bool:
    """Whether a process writes the run whose file of samples this is, as far as the kernel says.

    The lock itself is not tried: for that moment nobody else could take it.
    """
    try:
        return _owner(path.stat()) != 0
    except OSError:
        return False


def _owner(file: os.stat_result) -> int:
    """The process that holds the lock. 0 if the kernel does not say.

    A line of /proc/locks is ``1: FLOCK ADVISORY WRITE 1234 08:01:77 0 EOF``. Its device is not
    always that of ``stat``, for example on btrfs, and files of two file systems can have the same
    inode number. So the process must have the file open too.
    """
    try:
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return 0
    for line in lines:
        words = line.split()
        if len(words) > 5 and words[1] == "FLOCK" and words[5].endswith(f":{file.st_ino}"):
            pid = int(words[4])
            if pid > 0 and _has_open(pid, file):  # -1: a process of another namespace
                return pid
    return 0


def _has_open(pid: int, file: os.stat_result) -> bool:
    """True also if the open files of the process cannot be seen: it may be another user's."""
    try:
        descriptors = list((PROC / str(pid) / "fd").iterdir())
    except OSError:
        return True
    for descriptor in descriptors:
        with suppress(OSError):  # it can be closed meanwhile
            if os.path.samestat(descriptor.stat(), file):
                return True
    return False
