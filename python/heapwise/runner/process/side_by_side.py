"""Processes that run at once on the same processor, so that all meet the same disturbances.

The kernel alternates them every few milliseconds. One that ends is started again, as a filler that
nobody counts, until all have ended: otherwise the last one would have the processor and its caches
to itself, which makes a difference look smaller than it is. Bulej et al., "Duet Benchmarking:
Improving Measurement Accuracy in the Cloud", ICPE 2020, with two processes and without fillers.
"""

from __future__ import annotations

import selectors
import socket
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.errors import Problem
from heapwise.model import LauncherFacts
from heapwise.runner.process.launch import BACKSTOP_S, Call, Launch, Outcome
from heapwise.runner.process.stop_switch import StopSwitch


@dataclass(frozen=True)
class Together:
    """How one of them ended."""

    outcome: Outcome
    fillers: int = 0
    """How often it was started again."""

    overlap: float = 0.0
    """The share of its time in which each of the others ran, too; of the one that did so least."""


@dataclass
class WaitingLauncher:
    """A launcher that starts its program when it is told to."""

    what: Launch
    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._call = Call(self.what, self.folder)
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.launcher: subprocess.Popen[bytes] = self._call.start(starter=theirs)

    def start(self) -> None:
        """The program starts now. If the launcher is gone, its result says why."""
        try:
            self.socket.send(b"s")
        except OSError:
            return

    def stop(self) -> None:
        """A program that runs is killed; one that was not started never is."""
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
class _Member:
    """One of the processes that count, and the fillers that follow it."""

    what: Launch
    folder: Path
    stack: ExitStack
    fillers: list[WaitingLauncher] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counted = self._prepare("counted")
        self.next = self._prepare("0")

    def start_filler(self) -> WaitingLauncher:
        """The one that waited is started, and another one is prepared."""
        self.fillers.append(self.next)
        self.next = self._prepare(str(len(self.fillers)))
        self.fillers[-1].start()
        return self.fillers[-1]

    def _prepare(self, name: str) -> WaitingLauncher:
        launcher = WaitingLauncher(self.what, self.folder / name)
        self.stack.callback(launcher.close)
        return launcher


def run_together(
    launches: Sequence[Launch], folder: Path, stop: StopSwitch, order: Sequence[int] = ()
) -> list[Together]:
    """Runs all of them to their ends. order: in which they are started, a moment apart.

    Problem E052 if a launcher cannot do its work.
    """
    with ExitStack() as stack:
        members = [
            _Member(what, folder / str(number), stack) for number, what in enumerate(launches)
        ]
        stop.guard(*(member.counted.launcher for member in members))
        try:
            for index in order or range(len(members)):
                members[index].counted.start()
            _fill_until_all_ended(members, stop)
            outcomes = [member.counted.outcome() for member in members]
        except Problem:
            if stop.requested:  # a launcher that was stopped before its program began has no result
                return [Together(Outcome(interrupted=True)) for _ in members]
            raise
        finally:
            stop.guard()
        if stop.requested:
            return [Together(Outcome(interrupted=True)) for _ in members]
        ran = [
            [outcome.facts, *(filler.outcome().facts for filler in member.fillers)]
            for member, outcome in zip(members, outcomes, strict=True)
        ]
    return [
        Together(outcome, len(member.fillers), _least_overlap(index, ran))
        for index, (member, outcome) in enumerate(zip(members, outcomes, strict=True))
    ]


def _least_overlap(index: int, ran: Sequence[Sequence[LauncherFacts]]) -> float:
    """ran: of each member the process that counts, and its fillers."""
    others = [beside for place, beside in enumerate(ran) if place != index]
    return min((overlap(ran[index][0], beside) for beside in others), default=1.0)


def _fill_until_all_ended(members: list[_Member], stop: StopSwitch) -> None:
    """Each that has ended is followed by fillers, until the last one of them has ended. The last
    fillers are not killed: they may hold a lock, or be about to remove a file."""
    open_ = set(range(len(members)))
    with selectors.DefaultSelector() as selector:
        for index, member in enumerate(members):
            selector.register(member.counted.socket, selectors.EVENT_READ, index)
        while True:
            for key, _ in selector.select():
                selector.unregister(key.fileobj)
                open_.discard(key.data)
                if open_ and not stop.requested:
                    filler = members[key.data].start_filler()
                    selector.register(filler.socket, selectors.EVENT_READ, key.data)
            if not open_:
                return


def overlap(one: LauncherFacts, beside: Sequence[LauncherFacts]) -> float:
    """The share of the time of ``one`` in which at least one of ``beside`` ran; they run one after
    the other. 0 if a time is not known."""
    if one.start_ns is None or one.end_ns is None or one.end_ns <= one.start_ns:
        return 0.0
    shared = 0
    for each in beside:
        if each.start_ns is not None and each.end_ns is not None:
            low, high = max(one.start_ns, each.start_ns), min(one.end_ns, each.end_ns)
            shared += max(0, high - low)
    return min(1.0, shared / (one.end_ns - one.start_ns))
