"""Shows a campaign while it goes on: a live line on a terminal, a line every 30 s elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from heapwise.cli.frame import console
from heapwise.cli.frame.duration import show_duration
from heapwise.model import Process, Run
from heapwise.runner import Progress, Step

EVERY_S = 30.0
BAR = 20


class Quiet:
    """Says nothing, for ``--quiet``."""

    def begin(self, run: Run) -> None:
        pass

    def step(self, step: Step, progress: Progress) -> None:
        pass

    def done(self, process: Process) -> None:
        pass

    def dropped(self, subject: str, reason: str) -> None:
        console.error_line(f"{subject}: {reason}, three times; left out from now on")

    def end(self) -> None:
        pass


class Lines(Quiet):
    """No terminal: no escape codes, and rarely."""

    def __init__(self) -> None:
        self._last_s = time.monotonic()

    def step(self, step: Step, progress: Progress) -> None:
        now_s = time.monotonic()
        if now_s - self._last_s >= EVERY_S:
            self._last_s = now_s
            console.error_line(describe(step, progress))


class Live(Quiet):
    """One line of a terminal, rewritten by rich four times a second at most."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._live: Any = RichLive(
            console=Console(stderr=True, highlight=False), refresh_per_second=4, transient=True
        )

    def begin(self, run: Run) -> None:
        self._live.start()

    def step(self, step: Step, progress: Progress) -> None:
        from rich.text import Text

        line = console.visible(describe(step, progress))
        self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))

    def dropped(self, subject: str, reason: str) -> None:
        self._live.console.print(
            console.visible(f"{subject}: {reason}, three times; left out from now on"),
            markup=False,
        )

    def end(self) -> None:
        self._live.stop()


def choose(quiet: bool) -> Quiet:
    if quiet:
        return Quiet()
    return Live() if console.is_live(sys.stderr) else Lines()


def describe(step: Step, progress: Progress) -> str:
    """``round 14 of 31  ###########---------  jemalloc   eta 0:52``."""
    of = f" of {progress.rounds}" if progress.rounds else ""
    full = round(progress.share * BAR)
    bar = "#" * full + "-" * (BAR - full)
    eta = f"   eta {show_duration(progress.eta_s)}" if progress.eta_s is not None else ""
    where = "" if step.experiment.id == "compare" else f"{step.experiment.id}  "
    warm = "   (warm-up)" if step.warm_up else ""
    return f"round {progress.round}{of}  {bar}  {where}{step.subject.name}{eta}{warm}"
