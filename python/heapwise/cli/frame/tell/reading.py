"""Shows how far a long file is read: a live line on a terminal, a line every 30 s elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from heapwise.cli.frame.tell import console
from heapwise.wording.durations import show_duration
from heapwise.wording.progress_bar import bar
from heapwise.wording.visible import visible

EVERY_S = 30.0
SILENT_S = 1.0
"""A file that is read sooner needs no line."""


@contextmanager
def reading(name: str, quiet: bool = False) -> Iterator[Callable[[float], None]]:
    """Yields a function: it is told the share that was read, of 0 to 1."""
    if quiet:
        yield lambda share: None
    elif console.is_live(sys.stderr):
        with _live(name) as tell:
            yield tell
    else:
        yield _Lines(name).tell


def reading_line(name: str, share: float, elapsed_s: float) -> str:
    """``reading load.hwt  ########------------  eta 0:12``."""
    eta = f"  eta {show_duration(elapsed_s / share - elapsed_s)}" if share else ""
    return visible(f"reading {name}  {bar(share)}{eta}")


class _Lines:
    def __init__(self, name: str) -> None:
        self._name = name
        self._began_s = self._told_s = time.monotonic()

    def tell(self, share: float) -> None:
        now = time.monotonic()
        if now - self._told_s >= EVERY_S:
            self._told_s = now
            console.error_line(reading_line(self._name, share, now - self._began_s))


@contextmanager
def _live(name: str) -> Iterator[Callable[[float], None]]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    began_s = time.monotonic()
    with Live(
        console=Console(stderr=True, highlight=False), auto_refresh=False, transient=True
    ) as live:

        def tell(share: float) -> None:
            elapsed_s = time.monotonic() - began_s
            if elapsed_s >= SILENT_S:
                line = reading_line(name, share, elapsed_s)
                live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)

        yield tell
