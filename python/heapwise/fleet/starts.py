"""Workers are started together, a bounded number at a time."""

from __future__ import annotations

import subprocess
import threading
from collections import deque
from collections.abc import Callable

from heapwise.errors import Problem
from heapwise.fleet.engines.local_processes import end_all

AT_ONCE = 16
"""Each may be an ssh that sends a bundle: more would only share the network."""

Worker = subprocess.Popen[bytes]


class Starts:
    """Threads that call ``start`` for names. They end with the client, whatever ssh waits for."""

    def __init__(self, start: Callable[[str], Worker], at_once: int = AT_ONCE) -> None:
        self._start, self._at_once = start, at_once
        self._waiting: deque[tuple[str, Worker | None]] = deque()
        self._ended: dict[str, Worker | Problem] = {}
        self._under_way: set[str] = set()
        self._lock = threading.Lock()
        self._threads = 0
        self._closed = False

    def begin(self, name: str, old: Worker | None = None) -> None:
        """Soon, after the old worker of this name was ended."""
        with self._lock:
            self._under_way.add(name)
            self._waiting.append((name, old))
            if self._threads < self._at_once:
                self._threads += 1
                threading.Thread(target=self._serve, daemon=True).start()

    def take(self) -> dict[str, Worker | Problem]:
        """What has started, or why not, since this was last asked."""
        with self._lock:
            found, self._ended = self._ended, {}
            self._under_way -= found.keys()
        return found

    def under_way(self, name: str) -> bool:
        with self._lock:
            return name in self._under_way

    def close(self) -> list[Worker]:
        """Workers that nobody took. What starts later is ended at once."""
        with self._lock:
            self._closed = True
            left = [old for _, old in self._waiting if old is not None]
            self._waiting.clear()
        return left + [worker for worker in self.take().values() if not isinstance(worker, Problem)]

    def _serve(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                name, old = self._waiting.popleft()
            self._serve_one(name, old)

    def _serve_one(self, name: str, old: Worker | None) -> None:
        if old is not None:
            end_all([old])
        worker: Worker | Problem
        try:
            worker = self._start(name)
        except Problem as problem:  # one machine that cannot be reached stops no other
            worker = problem
        except Exception as error:  # nor does one whose ssh cannot even be started
            worker = Problem("E065", f"{name}: {error}")
        with self._lock:
            closed = self._closed
            if not closed:
                self._ended[name] = worker
        if closed and not isinstance(worker, Problem):
            end_all([worker])
