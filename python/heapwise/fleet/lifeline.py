"""A process of the engine ends when its standard input does: with the client, or with ssh."""

from __future__ import annotations

import os
import sys
import threading


def end_with_parent() -> None:
    threading.Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    sys.stdin.buffer.read()
    os._exit(0)  # measuring processes have a session of their own and go on
