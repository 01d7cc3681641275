"""One process at a time writes a run. The kernel takes the lock back when that process ends."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from heapwise.errors import Problem

LOCKS = Path("/proc/locks")


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
        pid = _owner(status.st_ino)
        who = f"process {pid}" if pid else "another process"
        raise Problem("E006", f"run {folder.name} is being measured by {who}",
                      do=f"wait until it has ended, or stop it{f': kill {pid}' if pid else ''}") \
            from error
    except OSError:
        return


def is_locked(path: Path) -> bool:
    """Whether a process writes the run whose file of samples this is, as far as the kernel says.

    The lock itself is not tried: for that moment nobody else could take it.
    """
    try:
        return _owner(path.stat().st_ino) != 0
    except OSError:
        return False


def _owner(inode: int) -> int:
    """Of the lock, as /proc/locks has it: ``1: FLOCK ADVISORY WRITE 1234 08:01:77 0 EOF``. 0 if
    the kernel does not say."""
    try:
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return 0
    for line in lines:
        words = line.split()
        if len(words) > 5 and words[1] == "FLOCK" and words[5].endswith(f":{inode}"):
            return max(0, int(words[4]))  # -1: a process of another namespace
    return 0
