"""Processes that run at once on the same processor, so that all meet the same disturbances.

The kernel alternates them every few milliseconds. A program that ends is started again, at first as
often as it counts, then as a filler that nobody counts, until all have ended: otherwise the last
one would have the processor and its caches to itself, which makes a difference look smaller than it
is. Bulej et al., "Duet Benchmarking: Improving Measurement Accuracy in the Cloud", ICPE 2020, with
two processes and without fillers.

What a program does at its start disturbs its neighbours otherwise than the rest of its work, and
all start at once. So the end of the longest one, which the shorter ones lack, has beginnings beside
it. The more runs count, the smaller is their share (docs/design/statistics.md).
"""

from __future__ import annotations

import random
import selectors
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.errors import Problem
from heapwise.model import LauncherFacts
from heapwise.runner.process.launch import BACKSTOP_S, Call, Launch, Outcome
from heapwise.runner.process.stop_switch import StopSwitch


@dataclass(frozen=True)
class Together:
    """How one of them ended. later: how its further runs that count did, in their order."""

    outcome: Outcome
    later: Sequence[Outcome] = ()
    fillers: int = 0
    """How often it was started again, uncounted."""

    overlap: float = 0.0
    """The share of the time of its runs that count in which each of the others ran, too; of the one
    that did so least."""


@dataclass
class WaitingLauncher:
    """A launcher that starts its program when it is told to."""

    what: Launch
    folder: Path
    told_ns: int = 0
    """When it was told to, by the monotonic clock."""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._call = Call(self.what, self.folder)
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.launcher: subprocess.Popen[bytes] = self._call.start(starter=theirs)

    def start(self) -> None:
        """The program starts now. If the launcher is gone, its result says why."""
        self.told_ns = time.monotonic_ns()
        try:
            self.socket.send(b"s")
        except OSError:
            return

    def stop(self) -> None:
        """A program that runs is killed; one that was not started never is."""
        self.socket.close()

    def wait(self) -> bytes:
        """Waits for the launcher. Returns its error output."""
        try:
            _, complaint = self.launcher.communicate(timeout=self.what.timeout_s + BACKSTOP_S)
        except subprocess.TimeoutExpired:
            self.launcher.kill()
            _, complaint = self.launcher.communicate()
        return complaint

    def outcome(self) -> Outcome:
        """Waits for the launcher. Problem E052 if it left no result."""
        complaint = self.wait()
        return self._call.outcome(self.launcher.returncode, complaint)

    def close(self) -> None:
        """Leaves no process behind."""
        self.stop()
        if self.launcher.returncode is None:
            self.launcher.communicate()


@dataclass(eq=False)
class _Member:
    """One of the programs, and its runs, each of which begins when the one before has ended."""

    what: Launch
    folder: Path
    counts: int
    """How many of its runs count; the others are fillers."""

    launchers: list[WaitingLauncher]
    """All launchers of the group that are open; those that are prepared here are added."""

    started: int = 0
    running: WaitingLauncher | None = None
    """The one of which no end was seen."""

    counted: list[Outcome] = field(default_factory=list)
    ran: list[LauncherFacts] = field(default_factory=list)
    """When each run began and ended; those that count are first."""

    latest_ns: int = 0
    """How long after it was told to a run began, at most."""

    _ended: list[WaitingLauncher] = field(default_factory=list)
    """Their programs have ended, and their results were not read."""

    def __post_init__(self) -> None:
        """The first start waits for no preparation of another one: all start a moment apart."""
        self._waiting = [self._prepare(0), self._prepare(1)]

    def start(self) -> WaitingLauncher:
        """One that waited is started, and another one is prepared if none waits now."""
        self.running = self._waiting.pop(0)
        self.started += 1
        self.running.start()
        if not self._waiting:
            self._waiting.append(self._prepare(self.started))
        return self.running

    def end(self) -> None:
        """The program that runs has ended."""
        if self.running:
            self._ended.append(self.running)
        self.running = None

    def read(self, *, wait: bool) -> None:
        """Reads the results of launchers that are gone, and closes these: a short program ends
        hundreds of times beside a long one, and each launcher has two open files. wait: for those
        of which the program has ended.

        Problem E052 if one left no result.
        """
        while self._ended and (wait or self._ended[0].launcher.poll() is not None):
            launcher = self._ended.pop(0)
            outcome = launcher.outcome()
            launcher.close()
            self.launchers.remove(launcher)
            if len(self.counted) < self.counts:
                self.counted.append(outcome)
            facts = outcome.facts
            self.ran.append(LauncherFacts(start_ns=facts.start_ns, end_ns=facts.end_ns))
            if facts.start_ns:
                self.latest_ns = max(self.latest_ns, facts.start_ns - launcher.told_ns)

    @property
    def is_done(self) -> bool:
        """Whether all runs that count have ended."""
        return self.started - bool(self.running) >= self.counts

    @property
    def fillers(self) -> int:
        return self.started - self.counts

    def _prepare(self, number: int) -> WaitingLauncher:
        launcher = WaitingLauncher(self.what, self.folder / str(number))
        self.launchers.append(launcher)
        return launcher


@dataclass
class SideBySide:
    """Groups of processes, one group after the other.

    Fillers that still run at the end of a group are not killed: they may hold a lock, or be about
    to remove a file. They end while the next group runs on another processor.
    """

    _leftovers: dict[int, list[WaitingLauncher]] = field(default_factory=dict)
    """By processor; the oldest group is first."""

    peak_bytes: int = 0
    """The most memory of a process so far."""

    def choose(self, cpus: Sequence[int], chance: random.Random) -> int:
        """A processor for the next group, at random of those without fillers of an earlier one; if
        all have some, the one of the oldest group."""
        self._forget_ended()
        free = [cpu for cpu in cpus if cpu not in self._leftovers]
        return chance.choice(free) if free else next(c for c in self._leftovers if c in cpus)

    @property
    def left(self) -> int:
        """Fillers of earlier groups that still run."""
        self._forget_ended()
        return sum(map(len, self._leftovers.values()))

    def run(
        self,
        launches: Sequence[Launch],
        folder: Path,
        stop: StopSwitch,
        order: Sequence[int] = (),
        counts: int = 1,
    ) -> list[Together]:
        """Runs all of them to their ends, on the processor of the first. order: in which they are
        started, a moment apart. counts: how often each runs, one run after the other.

        Problem E052 if a launcher cannot do its work.
        """
        cpu = next(iter(launches[0].cpus), 0)
        self._finish(self._leftovers.pop(cpu, []), stop)
        launchers: list[WaitingLauncher] = []
        try:
            return self._run(cpu, launches, folder, stop, order, counts, launchers)
        finally:
            for each in launchers:  # all at once, and then all are waited for
                each.stop()
            for each in launchers:
                each.close()

    def _run(
        self,
        cpu: int,
        launches: Sequence[Launch],
        folder: Path,
        stop: StopSwitch,
        order: Sequence[int],
        counts: int,
        launchers: list[WaitingLauncher],
    ) -> list[Together]:
        members = [
            _Member(what, folder / str(cpu) / str(number), counts, launchers)
            for number, what in enumerate(launches)
        ]
        try:
            self._run_until_all_ended([members[i] for i in order] or members, stop)
            if stop.requested:
                return [Together(Outcome(interrupted=True)) for _ in members]
            for member in members:
                member.read(wait=True)
        except Problem:
            if stop.requested:  # a launcher that was stopped before its program began has no result
                return [Together(Outcome(interrupted=True)) for _ in members]
            raise
        finally:
            stop.guard()
        self.peak_bytes = max(
            self.peak_bytes,
            *(each.facts.peak_rss_bytes or 0 for member in members for each in member.counted),
        )
        ran = _ran(members)
        if left := [member.running for member in members if member.running]:
            self._leftovers[cpu] = left
            for each in left:
                launchers.remove(each)
        return [
            Together(
                member.counted[0],
                member.counted[1:],
                member.fillers,
                _least_overlap(index, ran, counts),
            )
            for index, member in enumerate(members)
        ]

    def _run_until_all_ended(self, members: Sequence[_Member], stop: StopSwitch) -> None:
        """Starts them in this order. What has ended is started again, until all runs that count
        have ended, or the user stops us."""

        def guard() -> None:
            running = [each.running.launcher for each in members if each.running]
            stop.guard(*running, *self._all_left())

        open_ = list(members)
        with selectors.DefaultSelector() as selector:
            for member in members:
                selector.register(member.start().socket, selectors.EVENT_READ, member)
            guard()
            while open_:
                for key, _ in selector.select():
                    selector.unregister(key.fileobj)
                    member = key.data
                    member.end()
                    if member in open_ and (member.is_done or stop.requested):
                        open_.remove(member)
                    if open_ and not stop.requested:
                        selector.register(member.start().socket, selectors.EVENT_READ, member)
                        guard()
                for member in members:  # after the starts, which must not wait
                    if not stop.requested:
                        member.read(wait=False)

    def finish(self, stop: StopSwitch) -> None:
        """Waits for the fillers that still run. If the user stops us, they are ended."""
        left = [each for group in self._leftovers.values() for each in group]
        self._leftovers.clear()
        self._finish(left, stop)

    def _finish(self, left: Sequence[WaitingLauncher], stop: StopSwitch) -> None:
        stop.guard(*(each.launcher for each in left), *self._all_left())
        try:
            for each in left:
                each.wait()
        finally:
            stop.guard()
            for each in left:
                each.close()

    def _forget_ended(self) -> None:
        for cpu, left in list(self._leftovers.items()):
            running = [each for each in left if each.launcher.poll() is None]
            for each in left:
                if each not in running:
                    each.wait()
                    each.close()
            if running:
                self._leftovers[cpu] = running
            else:
                del self._leftovers[cpu]

    def _all_left(self) -> list[subprocess.Popen[bytes]]:
        return [each.launcher for group in self._leftovers.values() for each in group]


def _ran(members: Sequence[_Member]) -> list[list[LauncherFacts]]:
    """For each member its runs, those that count first.

    A filler that still runs has no result. It runs at least until the last process that counts has
    ended, and began as late after it was told to as the latest of the others.
    """
    latest_ns = max(member.latest_ns for member in members)
    end_ns = max(one.end_ns or 0 for member in members for one in member.ran[: member.counts])
    ran = [list(member.ran) for member in members]
    for member, found in zip(members, ran, strict=True):
        if member.running:
            start_ns = member.running.told_ns + latest_ns
            found.append(LauncherFacts(start_ns=start_ns, end_ns=end_ns))
    return ran


def _least_overlap(index: int, ran: Sequence[Sequence[LauncherFacts]], counts: int) -> float:
    """ran: of each member the processes that count, and its fillers."""
    others = [beside for place, beside in enumerate(ran) if place != index]
    return min((overlap(ran[index][:counts], beside) for beside in others), default=1.0)


def overlap(runs: Sequence[LauncherFacts], beside: Sequence[LauncherFacts]) -> float:
    """The share of the time of ``runs`` in which at least one of ``beside`` ran. Each of both run
    one after the other. 0 if a time of ``runs`` is not known."""
    shared = lasted = 0
    for one in runs:
        if one.start_ns is None or one.end_ns is None or one.end_ns <= one.start_ns:
            return 0.0
        lasted += one.end_ns - one.start_ns
        for each in beside:
            if each.start_ns is not None and each.end_ns is not None:
                low, high = max(one.start_ns, each.start_ns), min(one.end_ns, each.end_ns)
                shared += max(0, high - low)
    return min(1.0, shared / lasted) if lasted else 0.0
