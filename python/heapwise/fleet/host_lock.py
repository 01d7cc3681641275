"""One plan at a time uses a machine."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from heapwise.errors import Problem

RETRY_S = 0.2
LOCK_VARIABLE = "HEAPWISE_FLEET_LOCK"
SHARED = Path("/run/lock")


def lock_path() -> Path:
    """One for all users of the machine, so that two names of one host are one machine."""
    if named := os.environ.get(LOCK_VARIABLE):
        return Path(named)
    folder = SHARED if os.access(SHARED, os.W_OK) else Path(tempfile.gettempdir())
    return folder / "heapwise-fleet.lock"


class HostLock:
    """An flock on a file of the machine.

    The measuring process inherits the descriptor. If the worker dies, the lock is held until that
    process ends too, so the next attempt waits for it instead of disturbing it.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.descriptor = _open(path)

    def acquire(self, wait_s: float, waiting: Callable[[], None]) -> None:
        """Calls ``waiting`` between attempts. Problem E006 after ``wait_s`` seconds."""
        until = time.monotonic() + wait_s
        while not self._try():
            if time.monotonic() > until:
                raise Problem(
                    "E006",
                    f"the machine is used by another plan ({self.path})",
                    do="wait until it has ended, then heapwise fleet collect RUN",
                )
            waiting()
            time.sleep(RETRY_S)

    def close(self) -> None:
        os.close(self.descriptor)

    def _try(self) -> bool:
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _open(path: Path) -> int:
    """Reading is enough for a lock; another user may have made the file."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
