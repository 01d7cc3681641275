"""Ctrl-C and SIGTERM: the child ends at once, everything that was measured is kept.

The handler only sets a flag and ends the child; nothing is raised into the middle of a write.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import suppress
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSwitch:
    """A context in which the signals that end a run are turned into ``requested``."""

    def __init__(self) -> None:
        self.requested = False
        self._times = 0
        self._children: dict[int, tuple[subprocess.Popen[bytes], ...]] = {}
        """By thread: two servers at once have a load each."""

        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP on purpose
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *ignored: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def guard(self, *children: subprocess.Popen[bytes]) -> None:
        """These launchers, and no others of this thread, are ended when the user stops us."""
        self._children[threading.get_ident()] = children
        if self.requested:
            self._end_children()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        self._times += 1
        self._end_children()

    def _end_children(self) -> None:
        # A launcher ends what it started; only the impatient third Ctrl-C kills it.
        how = signal.SIGTERM if self._times < 3 else signal.SIGKILL
        for child in [each for own in list(self._children.values()) for each in own]:
            if child.returncode is None:
                with suppress(ProcessLookupError):
                    os.kill(child.pid, how)
