"""Two processes that run at once on the same processors, so that both meet the same disturbances.

The kernel alternates the two every few milliseconds. The one that ends first is started again, as a
filler that nobody counts, until the other has ended: the longer one would else have the processor
and its caches to itself at the end, which makes a difference look smaller than it is. Bulej et al.,
"Duet Benchmarking: Improving Measurement Accuracy in the Cloud", ICPE 2020, without fillers.
"""

from __future__ import annotations

import itertools
import selectors
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.model import LauncherFacts
from heapwise.runner.launch import BACKSTOP_S, Call, Launch, Outcome
from heapwise.runner.stop_switch import StopSwitch


@dataclass(frozen=True)
class Together:
    """How the two ended, in the order in which they were given."""

    outcomes: tuple[Outcome, Outcome]
    fillers: int = 0
    """How many were started."""

    overlap: float = 0.0
    """The share of the time of the longer one in which something ran beside it."""


@dataclass
class WaitingLauncher:
    """A launcher that waits for the word to start its program."""

    what: Launch
    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._call = Call(self.what, self.folder)
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.launcher: subprocess.Popen[bytes] = self._call.start(starter=theirs)
        self.is_started = False

    def start(self) -> None:
        """The program starts now."""
        self.is_started = True
        try:
            self.socket.send(b"s")
        except OSError:
            self.is_started = False  # the launcher is gone; its result says why

    def stop(self) -> None:
        """Withdraws the word: a program that runs is killed, one that was not started never is."""
        self.socket.close()

    def outcome(self) -> Outcome:
        """Waits for the launcher. Problem E052 if it left no result."""
        try:
            _, complaint = self.launcher.communicate(timeout=self.what.timeout_s + BACKSTOP_S)
        except subprocess.TimeoutExpired:
            self.launcher.kill()
            _, complaint = self.launcher.communicate()
        return self._call.outcome(self.launcher.returncode, complaint)

    def close(self) -> None:
        """Leaves no process behind."""
        self.stop()
        if self.launcher.poll() is None:
            self.launcher.communicate()


@dataclass
class _Fillers:
    """Runs one program again and again while the other side still runs."""

    what: Launch
    folder: Path
    stack: ExitStack
    ended: list[WaitingLauncher] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers: Iterator[int] = itertools.count()
        self.next = self._prepare()

    def start(self) -> WaitingLauncher:
        """The one that waited is started, and another one is prepared."""
        running, self.next = self.next, self._prepare()
        running.start()
        self.ended.append(running)
        return running

    def _prepare(self) -> WaitingLauncher:
        made = WaitingLauncher(self.what, self.folder / str(next(self._numbers)))
        self.stack.callback(made.close)
        return made


def run_together(
    first: Launch, second: Launch, folder: Path, stop: StopSwitch, *, second_starts: bool = False
) -> Together:
    """Runs both to their ends; with ``second_starts`` the second is started a moment earlier.

    Problem E052 if a launcher cannot do its work.
    """
    with ExitStack() as stack:
        sides = [
            WaitingLauncher(what, folder / name)
            for what, name in ((first, "first"), (second, "second"))
        ]
        for side in sides:
            stack.callback(side.close)
        fillers = [
            _Fillers(what, folder / f"filler-{name}", stack)
            for what, name in ((first, "first"), (second, "second"))
        ]
        stop.guard(*(side.launcher for side in sides))
        try:
            for side in reversed(sides) if second_starts else sides:
                side.start()
            winner = _wait(sides)
            used = _fill(fillers[winner], sides[1 - winner]) if not stop.requested else []
            outcomes = sides[0].outcome(), sides[1].outcome()
        finally:
            stop.guard()
    if stop.requested:
        return Together((Outcome(interrupted=True), Outcome(interrupted=True)))
    beside = [each.outcome().facts for each in used]
    return Together(
        outcomes,
        len(used),
        overlap(outcomes[1 - winner].facts, [outcomes[winner].facts, *beside]),
    )


def _wait(prepared: list[WaitingLauncher]) -> int:
    """The index of the first whose program has ended."""
    with selectors.DefaultSelector() as selector:
        for index, each in enumerate(prepared):
            selector.register(each.socket, selectors.EVENT_READ, index)
        ready: int = min(key.data for key, _ in selector.select())
    return ready


def _fill(fillers: _Fillers, longer: WaitingLauncher) -> list[WaitingLauncher]:
    """Fillers, one after the other, until ``longer`` has ended."""
    while True:
        filler = fillers.start()
        if _wait([longer, filler]) == 0:
            filler.stop()
            return fillers.ended


def overlap(longer: LauncherFacts, beside: list[LauncherFacts]) -> float:
    """The share of the time of ``longer`` in which at least one of ``beside`` ran; they run one
    after the other. 0 if a time is not known."""
    if longer.start_ns is None or longer.end_ns is None or longer.end_ns <= longer.start_ns:
        return 0.0
    shared = 0
    for each in beside:
        if each.start_ns is not None and each.end_ns is not None:
            low, high = max(longer.start_ns, each.start_ns), min(longer.end_ns, each.end_ns)
            shared += max(0, high - low)
    return min(1.0, shared / (longer.end_ns - longer.start_ns))
